// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The pipeline: which passes make what of a model, in order.
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace dbc::passes {

void buildPipeline(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createDynUnrollFolds());
  pm.addPass(createDynOrderErrors());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createDynDecompose({options.train}));
  pm.addPass(createDynHoist());
  pm.addPass(createDynHoistCaptured());
  pm.addPass(createDynHoist()); // what is computed where a cell is called, out of the binders around
  pm.addPass(createDynLambdaLift());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createDynForwardGathers());
  pm.addPass(createDynSumOperands());
  pm.addPass(createDynShareProducts());
  pm.addPass(createDynMergeProducts());
  pm.addPass(createDynSplitScans());
  pm.addPass(createDynHoist());
  pm.addPass(createCSEPass());
  if (options.until == "dyn")
    return;
  pm.addPass(createDynToBatch());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createBatchRematerialiseGathers());
  pm.addPass(createBatchFoldTables({options.tableElements, /*train=*/options.train}));
  pm.addPass(createBatchPartition());
  pm.addPass(createBatchOrderStages());
  pm.addPass(createBatchAssignLevels());
  if (options.train)
    pm.addPass(createBatchDifferentiate({options.gradientsOf, options.recompute}));
  pm.addPass(createBatchFuse());
  pm.addPass(createCSEPass());
  if (options.train)
    pm.addPass(createBatchJoinGates());
  pm.addPass(createBatchSplitGates());
  pm.addPass(createBatchNameStages());
  if (options.train && (options.device || options.target == Target::Cuda))
    pm.addPass(createBatchSplitOperands());
  if (options.blas != Blas::Never)
    pm.addPass(createBatchBlas({options.blas == Blas::Auto ? kLargeWeights : 1}));
  pm.addPass(createBatchClassifyAccesses());
  pm.addPass(createBatchMarkConcurrent());
  if (options.target == Target::Cpu)
    pm.addPass(createBatchPlanSteps());
  pm.addPass(createBatchPlanBuffers());
  pm.addPass(options.target == Target::Cuda ? createScheduleCuda({options.realBytes}) : createScheduleCpu());
  if (options.until == "batch")
    return;
  pm.addPass(createBatchToKernel(
      {/*epilogues=*/options.target == Target::Cpu, /*byElement=*/options.target == Target::Cuda}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass()); // comparisons of what turned out to be equal
  pm.addPass(createKernelPlanSlots());
  if (options.target == Target::Cuda) {
    if (options.blas != Blas::Never)
      pm.addPass(createKernelBlas({options.tf32}));
    if (options.realBytes == 4)
      pm.addPass(createKernelTensorCores({options.tf32}));
    pm.addPass(createKernelSplitSums());
    pm.addPass(createKernelForwardRows());
    pm.addPass(createKernelMapLanes());
    pm.addPass(createKernelMapThreads({options.realBytes}));
    pm.addPass(createKernelPadRows());
    pm.addPass(createKernelPersist());
    pm.addPass(createKernelSyncElements({options.realBytes}));
    pm.addPass(createKernelGraph());
    pm.addPass(createKernelShareStages({/*device=*/true}));
  } else {
    pm.addPass(createKernelFlattenLoops());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createKernelPlanScratch({options.realBytes}));
    pm.addPass(createKernelShareStages());
  }
}

void registerPasses() {
  registerDbcPasses();
  PassPipelineRegistration<>("dbc-pipeline", "All passes from dyn to kernel",
                             [](OpPassManager &pm) { buildPipeline(pm); });
  PassPipelineRegistration<>("dbc-pipeline-train", "All passes from dyn to kernel, with gradients of losses",
                             [](OpPassManager &pm) {
                               PipelineOptions options;
                               options.train = true;
                               buildPipeline(pm, options);
                             });
  PassPipelineRegistration<>("dbc-pipeline-cuda", "All passes from dyn to kernel, for an NVIDIA GPU",
                             [](OpPassManager &pm) {
                               PipelineOptions options;
                               options.target = Target::Cuda;
                               buildPipeline(pm, options);
                             });
}

} // namespace dbc::passes
