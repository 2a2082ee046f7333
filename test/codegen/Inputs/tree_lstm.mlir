// A binary Tree-LSTM as the lowering gives it, in small: vocab 100, embed 12, hidden 8, classes 5.
module @tree_lstm attributes {dyn.dims = {classes = 5 : i64, embed = 12 : i64, hidden = 8 : i64, vocab = 100 : i64}} {
  kernel.data @Tree {
    kernel.ctor "Leaf" ["word", "label"] [!dyn.index<100>, !dyn.index<5>] in [0, 1]
    kernel.ctor "Node" ["left", "right", "label"] [!dyn.node<@Tree>, !dyn.node<@Tree>, !dyn.index<5>] in [2, 3, 1]
  }
  kernel.param @E : tensor<100x12xf32> = #dyn.init<glorot, 0.0 : f64, 0.0 : f64>
  kernel.param @W : tensor<24x12xf32> = #dyn.init<glorot, 0.0 : f64, 0.0 : f64>
  kernel.param @b : tensor<24xf32> = #dyn.init<constant, 0.0 : f64, 0.0 : f64>
  kernel.param @U : tensor<40x16xf32> = #dyn.init<glorot, 0.0 : f64, 0.0 : f64>
  kernel.param @d : tensor<40xf32> = #dyn.init<constant, 0.0 : f64, 0.0 : f64>
  kernel.param @V : tensor<5x8xf32> = #dyn.init<glorot, 0.0 : f64, 0.0 : f64>
  kernel.param @e : tensor<5xf32> = #dyn.init<constant, 0.0 : f64, 0.0 : f64>
  kernel.program @sentiment ["t"] [!dyn.node<@Tree>] -> tensor<5xf32> {
    kernel.group @g0 ["encode"] of [@Tree] by [@calls.encode]
    kernel.index_set inputs @input ["input", "encode"]
    kernel.index_set instances @encode ["node"] group @g0 cell 0 by_time_step
    kernel.index_set arm @encode.Leaf in @encode ["parent", "word"]
    kernel.index_set arm @encode.Node in @encode ["parent", "left", "right"] by_time_step
    kernel.buffer @encode.h over @encode : tensor<8xf32>
    kernel.buffer @encode.c over @encode : tensor<8xf32>
    kernel.buffer @result over @input : tensor<5xf32>
    kernel.field @Tree.kind = @Tree "" -1 kind : i32
    kernel.field @Tree.word = @Tree "word" 0 value : i32
    kernel.field @Tree.left = @Tree "left" 2 value : i32
    kernel.field @Tree.right = @Tree "right" 3 value : i32
    kernel.argument @t = "t" 0 value : i32
    kernel.weights @W = [@W] at [0, 0] : 24 by 12 init @b
    kernel.weights @U = [@U] at [0, 0] : 40 by 16 init @d
    kernel.weights @V = [@V] at [0, 0] : 5 by 8 init @e

    kernel.func roots @roots(%input: i32) {
      kernel.require @t[%input]
      %t = kernel.load @t[%input] : i32
      kernel.call @g0 0 (%t)
    }
    kernel.func calls @calls.encode(%t: i32) {
      %one = arith.constant 1 : i32
      %kind = kernel.load @Tree.kind[%t] : i32
      %is_node = arith.cmpi eq, %kind, %one : i32
      kernel.if %is_node {
        kernel.require @Tree.left[%t]
        %left = kernel.load @Tree.left[%t] : i32
        kernel.call @g0 0 (%left)
        kernel.require @Tree.right[%t]
        %right = kernel.load @Tree.right[%t] : i32
        kernel.call @g0 0 (%right)
        kernel.yield
      } else {
        kernel.require @Tree.word[%t]
        kernel.yield
      }
    }
    kernel.func index @index.encode(%row: i32, %t: i32) over @encode {
      %zero = arith.constant 0 : i32
      %kind = kernel.load @Tree.kind[%t] : i32
      %is_leaf = arith.cmpi eq, %kind, %zero : i32
      kernel.if %is_leaf {
        %word = kernel.load @Tree.word[%t] : i32
        kernel.push @encode.Leaf(%row, %word)
        kernel.yield
      } else {
        %left = kernel.load @Tree.left[%t] : i32
        %right = kernel.load @Tree.right[%t] : i32
        %l = kernel.row_of @encode(%left)
        %r = kernel.row_of @encode(%right)
        kernel.push @encode.Node(%row, %l, %r)
        kernel.yield
      }
    }
    kernel.func index @index.entry(%row: i32, %input: i32) over @input {
      %t = kernel.load @t[%input] : i32
      %r = kernel.row_of @encode(%t)
      kernel.set @input "encode"[%row], %r
    }
    kernel.func stage @leaf(%begin: i32, %end: i32) over @encode.Leaf attributes {doc = ["`encode` of a Leaf: (i, o, u) = W @ E[word] + b (tree_lstm.dyn:18)"], work = #kernel.work<reads 0 reals 48 bytes, writes 0 reals 64 bytes, gathers = 1, operations = 0>} {
      %zero = arith.constant 0 : i32
      %hidden = arith.constant 8 : i32
      %two = arith.constant 16 : i32
      kernel.blocks %begin to %end by 16 {
      ^bb0(%first: i32, %count: i32):
        %words = kernel.local : !kernel.local<16xi32>
        kernel.for vector %zero to %count {
        ^bb0(%k: i32):
          %at = arith.addi %first, %k : i32
          %w = kernel.load @encode.Leaf "word"[%at] : i32
          kernel.write %w, %words[%k] : i32, !kernel.local<16xi32>
          kernel.yield
        }
        %gates = kernel.local : !kernel.local<16x24xf32>
        %x = kernel.rows @E via %words : !kernel.local<16xi32> at 0
        kernel.product %count rows(%x) [12] with @W into %gates : !kernel.local<16x24xf32>
        kernel.for %zero to %count {
        ^bb0(%k: i32):
          %at = arith.addi %first, %k : i32
          %row = kernel.load @encode.Leaf "parent"[%at] : i32
          kernel.for vector %zero to %hidden {
          ^bb0(%j: i32):
            %i = kernel.read %gates[%k, %j] : !kernel.local<16x24xf32> -> f32
            %jo = arith.addi %j, %hidden : i32
            %o = kernel.read %gates[%k, %jo] : !kernel.local<16x24xf32> -> f32
            %ju = arith.addi %j, %two : i32
            %u = kernel.read %gates[%k, %ju] : !kernel.local<16x24xf32> -> f32
            %si = kernel.function sigmoid %i : f32
            %tu = math.tanh %u : f32
            %c = arith.mulf %si, %tu : f32 loc("c")
            kernel.store %c, @encode.c[%row, %j] : f32
            %so = kernel.function sigmoid %o : f32
            %tc = math.tanh %c : f32
            %h = arith.mulf %so, %tc : f32
            kernel.store %h, @encode.h[%row, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @node(%begin: i32, %end: i32) over @encode.Node attributes {doc = ["`encode` of a Node (tree_lstm.dyn:23)", "by level"], work = #kernel.work<reads 0 reals 128 bytes, writes 0 reals 64 bytes, gathers = 4, operations = 0>} {
      %zero = arith.constant 0 : i32
      %hidden = arith.constant 8 : i32
      %two = arith.constant 16 : i32
      %three = arith.constant 24 : i32
      %four = arith.constant 32 : i32
      kernel.blocks %begin to %end by 16 {
      ^bb0(%first: i32, %count: i32):
        %lefts = kernel.local : !kernel.local<16xi32>
        %rights = kernel.local : !kernel.local<16xi32>
        kernel.for %zero to %count {
        ^bb0(%k: i32):
          %at = arith.addi %first, %k : i32
          %l = kernel.load @encode.Node "left"[%at] : i32
          kernel.write %l, %lefts[%k] : i32, !kernel.local<16xi32>
          %r = kernel.load @encode.Node "right"[%at] : i32
          kernel.write %r, %rights[%k] : i32, !kernel.local<16xi32>
          kernel.yield
        }
        %gates = kernel.local : !kernel.local<16x40xf32>
        %xl = kernel.rows @encode.h via %lefts : !kernel.local<16xi32> at 0
        %xr = kernel.rows @encode.h via %rights : !kernel.local<16xi32> at 0
        kernel.product %count rows(%xl, %xr) [8, 8] with @U into %gates : !kernel.local<16x40xf32>
        kernel.for %zero to %count {
        ^bb0(%k: i32):
          %at = arith.addi %first, %k : i32
          %row = kernel.load @encode.Node "parent"[%at] : i32
          %l = kernel.read %lefts[%k] : !kernel.local<16xi32> -> i32 loc("l")
          %r = kernel.read %rights[%k] : !kernel.local<16xi32> -> i32 loc("r")
          kernel.for vector %zero to %hidden {
          ^bb0(%j: i32):
            %i = kernel.read %gates[%k, %j] : !kernel.local<16x40xf32> -> f32
            %jl = arith.addi %j, %hidden : i32
            %fl = kernel.read %gates[%k, %jl] : !kernel.local<16x40xf32> -> f32
            %jr = arith.addi %j, %two : i32
            %fr = kernel.read %gates[%k, %jr] : !kernel.local<16x40xf32> -> f32
            %jo = arith.addi %j, %three : i32
            %o = kernel.read %gates[%k, %jo] : !kernel.local<16x40xf32> -> f32
            %ju = arith.addi %j, %four : i32
            %u = kernel.read %gates[%k, %ju] : !kernel.local<16x40xf32> -> f32
            %si = kernel.function sigmoid %i : f32
            %tu = math.tanh %u : f32
            %new = arith.mulf %si, %tu : f32
            %sl = kernel.function sigmoid %fl : f32
            %cl = kernel.load @encode.c[%l, %j] : f32
            %kl = arith.mulf %sl, %cl : f32
            %s1 = arith.addf %new, %kl : f32
            %sr = kernel.function sigmoid %fr : f32
            %cr = kernel.load @encode.c[%r, %j] : f32
            %kr = arith.mulf %sr, %cr : f32
            %c = arith.addf %s1, %kr : f32 loc("c")
            kernel.store %c, @encode.c[%row, %j] : f32
            %so = kernel.function sigmoid %o : f32
            %tc = math.tanh %c : f32
            %h = arith.mulf %so, %tc : f32
            kernel.store %h, @encode.h[%row, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @head(%begin: i32, %end: i32) over @input attributes {doc = ["softmax(V @ encode(t).h + e) (tree_lstm.dyn:33)"]} {
      %zero = arith.constant 0 : i32
      %classes = arith.constant 5 : i32
      %least = arith.constant 0xFF800000 : f32
      %none = arith.constant 0.0 : f32
      kernel.blocks %begin to %end by 16 {
      ^bb0(%first: i32, %count: i32):
        %roots = kernel.local : !kernel.local<16xi32>
        kernel.for %zero to %count {
        ^bb0(%k: i32):
          %at = arith.addi %first, %k : i32
          %n = kernel.load @input "encode"[%at] : i32
          kernel.write %n, %roots[%k] : i32, !kernel.local<16xi32>
          kernel.yield
        }
        %z = kernel.local : !kernel.local<16x5xf32> loc("logits")
        %x = kernel.rows @encode.h via %roots : !kernel.local<16xi32> at 0
        kernel.product %count rows(%x) [8] with @V into %z : !kernel.local<16x5xf32>
        kernel.for %zero to %count {
        ^bb0(%k: i32):
          %row = arith.addi %first, %k : i32
          %most = kernel.for %zero to %classes carry(%least) : (f32) -> (f32) {
          ^bb0(%j: i32, %m: f32):
            %zj = kernel.read %z[%k, %j] : !kernel.local<16x5xf32> -> f32
            %next = arith.maximumf %m, %zj : f32
            kernel.yield %next : f32
          }
          %sum = kernel.for %zero to %classes carry(%none) : (f32) -> (f32) {
          ^bb0(%j: i32, %s: f32):
            %zj = kernel.read %z[%k, %j] : !kernel.local<16x5xf32> -> f32
            %d = arith.subf %zj, %most : f32
            %p = math.exp %d : f32
            kernel.store %p, @result[%row, %j] : f32
            %next = arith.addf %s, %p : f32
            kernel.yield %next : f32
          }
          kernel.for vector %zero to %classes {
          ^bb0(%j: i32):
            %p = kernel.load @result[%row, %j] : f32
            %q = arith.divf %p, %sum : f32
            kernel.store %q, @result[%row, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.schedule {
      kernel.start @roots
      kernel.sort @g0
      kernel.index @index.encode
      kernel.index @index.entry
      kernel.time_steps @encode.Node
    }
    kernel.run {
      kernel.launch @leaf
      kernel.levels @g0 {
        kernel.launch @node
      }
      kernel.launch @head
    }
    kernel.output 0 = @result depth 0
  }
}
