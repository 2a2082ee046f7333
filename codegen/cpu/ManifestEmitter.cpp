// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// NAME.json: the model for tools of other languages. MANIFEST.md is its schema.
#include "codegen/cpu/Emitters.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

static void typeAttributes(json::OStream &j, Type type);

static void typeValue(json::OStream &j, Type type) {
  j.object([&] { typeAttributes(j, type); });
}

static void typeAttributes(json::OStream &j, Type type) {
  j.attribute("text", spelling(type));
  if (auto list = dyn_cast<dyn::ListType>(type)) {
    j.attribute("form", "list");
    j.attributeBegin("element");
    typeValue(j, list.getElement());
    j.attributeEnd();
  } else if (auto record = dyn_cast<dyn::RecordType>(type)) {
    j.attribute("form", "record");
    j.attribute("name", record.getName().getValue());
    j.attributeArray("fields", [&] {
      for (auto [name, type] : llvm::zip(record.getNames(), record.getTypes()))
        j.object([&, type = type, name = name] {
          j.attribute("name", cast<StringAttr>(name).getValue());
          j.attributeBegin("type");
          typeValue(j, type);
          j.attributeEnd();
        });
    });
  } else if (auto tuple = dyn_cast<TupleType>(type)) {
    j.attribute("form", "tuple");
    j.attributeArray("elements", [&] {
      for (Type element : tuple.getTypes())
        typeValue(j, element);
    });
  } else {
    static constexpr StringRef names[] = {"index", "int", "bool", "f32", "node"};
    Element e = element(type);
    j.attribute("form", "value");
    j.attribute("element", names[int(e.elem)]);
    if (e.elem == Elem::Index)
      j.attribute("bound", e.bound);
    if (e.elem == Elem::Node)
      j.attribute("data", e.data);
    j.attributeArray("shape", [&] {
      for (int64_t extent : e.extents)
        j.value(extent);
    });
  }
}

static void namedType(json::OStream &j, StringRef name, Type type) {
  j.object([&] {
    j.attribute("name", name);
    j.attributeBegin("type");
    typeValue(j, type);
    j.attributeEnd();
  });
}

static void datas(json::OStream &j, const ModelNames &model) {
  j.attributeArray("data", [&] {
    for (const Data &data : model.datas)
      j.object([&] {
        j.attribute("name", data.source);
        j.attribute("cpp", data.name);
        j.attributeArray("constructors", [&] {
          for (const Constructor &constructor : data.constructors)
            j.object([&] {
              j.attribute("name", constructor.source);
              j.attributeArray("fields", [&] {
                for (const Field &field : constructor.fields)
                  j.object([&] {
                    j.attribute("name", field.source);
                    j.attribute("column", field.column);
                    j.attributeBegin("type");
                    typeValue(j, field.type);
                    j.attributeEnd();
                  });
              });
            });
        });
      });
  });
}

static void params(json::OStream &j, const ModelNames &model) {
  j.attributeArray("params", [&] {
    for (const Param &param : model.params)
      j.object([&] {
        kernel::ParamOp op = param.op;
        j.attribute("name", param.path);
        j.attribute("cpp", param.name);
        j.attributeArray("shape", [&] {
          for (int64_t extent : param.shape)
            j.value(extent);
        });
        auto init = dyn_cast_or_null<dyn::InitAttr>(op.getInitAttr());
        j.attribute("const", !init);
        if (init)
          j.attributeObject("init", [&] {
            j.attribute("kind", dyn::stringifyInitKind(init.getKind()));
            j.attribute("a", init.getA().getValueAsDouble());
            j.attribute("b", init.getB().getValueAsDouble());
          });
      });
  });
}

/// Loops as they stand round the stages: {"levels": "g0", "do": [...]}, {"stage": "s1"}.
static void order(json::OStream &j, Block &block) {
  for (Operation &op : block) {
    if (isa<kernel::MaskOp, kernel::DistinctOp, kernel::TransposeOp>(op))
      continue;
    j.object([&] {
      if (auto concurrent = dyn_cast<kernel::ConcurrentOp>(op)) {
        j.attributeArray("concurrent", [&] { order(j, concurrent.getBody().front()); });
      } else if (auto gradients = dyn_cast<kernel::GradientsOp>(op)) {
        j.attributeArray("gradients", [&] { order(j, gradients.getBody().front()); });
      } else if (auto launch = dyn_cast<kernel::LaunchOp>(op)) {
        auto func = SymbolTable::lookupNearestSymbolFrom<kernel::FuncOp>(launch, launch.getFuncAttr());
        j.attribute("stage", func.getStageName());
      } else if (auto loop = dyn_cast<kernel::TimeStepLoopInterface>(op)) {
        j.attribute(isa<kernel::LevelsOp>(op) ? "levels" : "steps", loop.getCarrier());
        j.attributeArray("do", [&] { order(j, loop->getRegion(0).front()); });
      }
    });
  }
}

static void stage(json::OStream &j, const ModelNames &model, kernel::FuncOp func, bool once) {
  j.object([&] {
    j.attribute("name", func.getStageName());
    j.attribute("index_set", *func.getIndexSet());
    j.attribute("at", once ? "load" : "run");
    j.attributeArray("doc", [&] {
      if (func.getDoc())
        for (Attribute line : func.getDocAttr())
          j.value(cast<StringAttr>(line).getValue());
    });
    const Work work = model.work(func);
    j.attribute("bytes_read", work.bytesRead);
    j.attribute("bytes_written", work.bytesWritten);
    j.attribute("gathers", work.gathers);
    j.attribute("operations", work.operations);
  });
}

/// An array of a device: {"name": .., "kind": .., "largest": [{"count": "rows", "of": .., "bytes": ..}]}.
static void deviceArray(json::OStream &j, const MemoryPlan::Array &array) {
  j.attribute("name", array.name);
  j.attribute("kind", wordOf(array.kind));
  j.attributeArray("largest", [&] {
    for (const MemoryPlan::Term &term : array.largest)
      j.object([&] {
        j.attribute("count", wordOf(term.count));
        if (!term.of.empty())
          j.attribute("of", term.of);
        if (term.level >= 0)
          j.attribute("level", term.level);
        if (term.most > 0) {
          j.attribute("rows", term.rows);
          j.attribute("tiles", term.tiles);
          j.attribute("most", term.most);
        }
        j.attribute("bytes", term.bytes);
      });
  });
}

static void program(json::OStream &j, const ModelNames &model, const Program &p, const MemoryPlan *memory) {
  kernel::ProgramOp op = p.op;
  j.attribute("name", p.source);
  j.attribute("cpp", p.name);
  j.attribute("loss", bool(op.getLoss()));
  j.attributeArray("args", [&] {
    for (const Argument &argument : p.arguments)
      namedType(j, argument.source, argument.type);
  });
  j.attributeBegin("result");
  typeValue(j, op.getSurface());
  j.attributeEnd();
  j.attributeArray("index_sets", [&] {
    for (kernel::IndexSetOp indexSet : p.indexSets)
      j.object([&] {
        j.attribute("name", indexSet.getSymName());
        j.attribute("kind", kernel::stringifyIndexSetKind(indexSet.getKind()));
        if (indexSet.getParent())
          j.attribute("parent", *indexSet.getParent());
        j.attributeArray("index_arrays", [&] {
          for (Attribute array : indexSet.getIndexArrays())
            j.value(cast<StringAttr>(array).getValue());
        });
        if (indexSet.getGroup()) {
          kernel::GroupOp group = p.find<kernel::GroupOp>(*indexSet.getGroup());
          j.attribute("group", *indexSet.getGroup());
          if (indexSet.getCell())
            j.attribute("cell", cast<StringAttr>(group.getCells()[*indexSet.getCell()]).getValue());
        }
      });
  });
  j.attributeArray("stages", [&] {
    for (kernel::FuncOp func : p.modelStages)
      stage(j, model, func, true);
    for (kernel::FuncOp func : p.stages)
      stage(j, model, func, false);
  });
  kernel::RunOp run = p.run;
  j.attributeArray("order", [&] {
    if (run)
      order(j, run.getBody().front());
  });
  if (memory)
    j.attributeArray("device_arrays", [&] {
      for (const MemoryPlan::Array &array : memory->entries[p.number].arrays)
        j.object([&] { deviceArray(j, array); });
    });
}

std::string emitManifest(const ModelNames &model, const DeviceCode *device) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream j(os, 2);
  j.object([&] {
    j.attribute("dbc_manifest", 1);
    j.attribute("model", model.source);
    j.attribute("namespace", model.space());
    j.attribute("source", model.options.source);
    j.attribute("real", model.f64() ? "f64" : "f32");
    j.attribute("weights", model.options.bf16 ? "bf16" : model.f64() ? "f64" : "f32");
    j.attributeArray("targets", [&] {
      j.value("cpu");
      if (device)
        j.value("cuda");
    });
    if (device)
      j.attributeObject("gpu_math", [&] {
        j.attribute("name", model.f64() ? "f64" : model.options.tf32 ? "tf32" : "f32");
        j.attribute("bound", model.options.tf32 ? 5e-3 : 1e-4);
      });
    if (device)
      j.attributeObject("gpu_blas", [&] {
        j.attribute("name", model.options.blas);
        j.attributeArray("entries", [&] {
          for (const std::string &entry : device->blasEntries())
            j.value(entry);
        });
      });
    std::optional<MemoryPlan> memory;
    if (device) {
      memory = device->memory();
      j.attributeObject("device_memory", [&] {
        j.attribute("model_bytes", memory->model);
        j.attribute("fixed_bytes", memory->fixed);
        j.attribute("line", memory->line);
      });
    }
    datas(j, model);
    params(j, model);
    j.attributeArray("entries", [&] {
      for (const auto &p : model.programs)
        j.object([&] { program(j, model, *p, memory ? &*memory : nullptr); });
    });
  });
  os << '\n';
  return text;
}

} // namespace dbc::codegen
