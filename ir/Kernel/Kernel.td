// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `kernel` dialect: how a batch is computed. All C++ is printed from these ops.

#ifndef DBC_KERNEL
#define DBC_KERNEL

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "Dyn/DynBase.td"
include "Kernel/KernelBase.td"
include "Kernel/KernelInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Kernel_Type<string n, string m> : TypeDef<Kernel_Dialect, n> { let mnemonic = m; }
def Kernel_LocalType : Kernel_Type<"Local", "local"> {
  let summary = "Scratch of a thread, or of a GPU's block of threads: an array of a static shape";
  let description = "`!kernel.local<16x750xf32>`: for a block of 16 rows, 750 elements each.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$element);
  let hasCustomAssemblyFormat = 1;
}
def Kernel_RowsType : Kernel_Type<"Rows", "rows"> {
  let summary = "The rows of a product's operand, see kernel.rows";
}
def Kernel_Local : Type<CPred<"::llvm::isa<::dbc::kernel::LocalType>($_self)">, "local", "::dbc::kernel::LocalType">;
def Kernel_Rows : Type<CPred<"::llvm::isa<::dbc::kernel::RowsType>($_self)">, "rows", "::dbc::kernel::RowsType">,
    BuildableType<"$_builder.getType<::dbc::kernel::RowsType>()">;
def Kernel_Scalar : AnyTypeOf<[F32, I32, I1]>;
def Kernel_Stored : Type<CPred<"::dbc::dyn::isNumber(::dbc::kernel::stored($_self))">, "number or node">;

def Kernel_Positive : ConfinedAttr<I64Attr, [IntPositive]>;
def Kernel_Bytes : ConfinedAttr<I64Attr, [IntNonNegative]>;

def Kernel_ContractAttr : AttrDef<Kernel_Dialect, "Contract"> {
  let mnemonic = "contract";
  let summary = "How a GPU's tensor cores add up the products with a matrix";
  let description = [{
    What decides the bits of a result, whichever kernel computes it, for however many rows. Operands of the given `lengths`
    are cut into K tiles of 16 inputs, each by itself. K tile n belongs to split-K slice n mod `slices`; a slice is added up K
    tile by K tile by `instruction`, then slice after slice is added to the bias. `tf32`: operands are rounded to 11 bits;
    `tf32x3`: they are sums of two such, and three products are added. `n_tiles` N tiles of 16 outputs are computed at once,
    which decides nothing.
    ```mlir
    #kernel.contract<tf32x3, slices = 8, n_tiles = 5, lengths = [150, 150]>
    ```
  }];
  let parameters = (ins EnumParameter<Kernel_Instruction>:$instruction, "int64_t":$slices, "int64_t":$n_tiles,
                        ArrayRefParameter<"int64_t">:$lengths);
  let assemblyFormat = "`<` $instruction `,` `slices` `=` $slices `,` `n_tiles` `=` $n_tiles `,` `lengths` `=` `[` $lengths `]` `>`";
}

def Kernel_ElementsAttr : AttrDef<Kernel_Dialect, "Elements"> {
  let mnemonic = "elements";
  let summary = "What a stage reads of each element of a list that it reduces, for the profile";
  let description = [{
    `reals` numbers of the emitter's type and `bytes` of other numbers; `gathered`: its row is found through an index array. How
    many elements a row has says the index array `array` of `of`, the row's index set; or, where that is of kind `transpose`,
    "begin" at the row that the index array `at` names, which is empty where that is the row itself.
    ```mlir
    #kernel.elements<reals = 100, bytes = 0, gathered = true, of = @input, array = "length", at = "">
    #kernel.elements<reals = 100, bytes = 0, gathered = true, of = @of.encode.left, array = "begin", at = "parent">
    ```
  }];
  let parameters = (ins "int64_t":$reals, "int64_t":$bytes, "bool":$gathered, "::mlir::FlatSymbolRefAttr":$list,
                        "::mlir::StringAttr":$array, "::mlir::StringAttr":$at);
  let assemblyFormat = [{ `<` `reals` `=` $reals `,` `bytes` `=` $bytes `,` `gathered` `=` $gathered `,` `of` `=` $list `,`
                          `array` `=` $array `,` `at` `=` $at `>` }];
}

def Kernel_WorkAttr : AttrDef<Kernel_Dialect, "Work"> {
  let mnemonic = "work";
  let summary = "What a stage does for one row, for the profile";
  let description = [{
    Numbers of the emitter's type that it reads and writes (`reals`), and bytes of other numbers; `gathers`, rows that it finds
    through index arrays; `operations` of products, two a multiply-add.
    ```mlir
    #kernel.work<reads 150 reals 4 bytes, writes 150 reals 0 bytes, gathers = 1, operations = 45000>
    ```
  }];
  let parameters = (ins "int64_t":$reals_read, "int64_t":$bytes_read, "int64_t":$reals_written, "int64_t":$bytes_written,
                        "int64_t":$gathers, "int64_t":$operations);
  let assemblyFormat = [{ `<` `reads` $reals_read `reals` $bytes_read `bytes` `,` `writes` $reals_written `reals` $bytes_written `bytes` `,`
                          `gathers` `=` $gathers `,` `operations` `=` $operations `>` }];
}

def Kernel_SlicesAttr : AttrDef<Kernel_Dialect, "Slices"> {
  let mnemonic = "slices";
  let summary = "How a GPU cuts the rows that a stage adds up";
  let description = [{
    Into `count` slices at most. Each has sums of its own of the `arrays`, one behind the other, in a row of the buffer `sums`;
    behind the stage they are added to the arrays, slice after slice.
    ```mlir
    #kernel.slices<64, arrays = [@W, @b], sums = @outer.slices>
    ```
  }];
  let parameters = (ins "int64_t":$count, ArrayRefParameter<"::mlir::FlatSymbolRefAttr">:$arrays, "::mlir::FlatSymbolRefAttr":$sums);
  let assemblyFormat = "`<` $count `,` `arrays` `=` `[` $arrays `]` `,` `sums` `=` $sums `>`";
}

class Kernel_Op<string m, list<Trait> t = []> : Op<Kernel_Dialect, m, t>;

/// An operation that names symbols.
class Kernel_UserOp<string m, list<Trait> t = []>
    : Kernel_Op<m, !listconcat(t, [DeclareOpInterfaceMethods<SymbolUserOpInterface>])>;

include "Kernel/KernelDeclarations.td"
include "Kernel/KernelFunctions.td"
include "Kernel/KernelOrder.td"

#endif // DBC_KERNEL
