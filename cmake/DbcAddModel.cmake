# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# dbc_add_model(<target> SOURCE <model.dyn>
#               [DIMS <name>=<number> ...]   # dims, as -D
#               [REAL f32|f64]               # the number that the model computes with, f32 if not said
#               [MODE infer|train]           # whether losses have gradients, as --mode
#               [GRADIENTS <name> ...]       # with MODE train: fields and arguments that losses have gradients of, as --gradient
#               [RECOMPUTE none|cheap|cells] # with MODE train: what gradients find again in place of keeping it, as --recompute
#               [WEIGHTS f32|bf16]           # how matrices are kept that products read, as --weights
#               [TABLE_BUDGET <bytes>]       # for functions of one index that are computed at load, as --table-budget
#               [INCLUDE <dir> ...]          # where imported modules are looked for, as -I
#               [C_INTERFACE]                # "<model name>_c.h" too, for programs in C
#               [TARGETS cpu [cuda]]         # what it runs on, cpu if not said; where CUDA is not an enabled language, the CPU alone
#               [GPU_MATH f32|tf32]          # how a GPU multiplies matrices, as --gpu-math
#               [GPU_BLAS never|auto|always] # which products cuBLAS computes, as --gpu-blas; linked with cuBLASLt unless never
#               [CUDA_ARCHITECTURES <sm> ...]) # of the GPUs that kernels are compiled for, "80;90" if not said
#
# Makes the static library <target> from a model. What links it can include "<model name>.h" and gets dbc::runtime along.
# The model is compiled again when it, a module that it imports, or dbc itself changes; the C++ only if that changes it.
function(dbc_add_model target)
  set(of_one SOURCE REAL MODE RECOMPUTE WEIGHTS TABLE_BUDGET GPU_MATH GPU_BLAS)
  set(of_several DIMS GRADIENTS INCLUDE TARGETS CUDA_ARCHITECTURES)
  cmake_parse_arguments(PARSE_ARGV 1 A "C_INTERFACE" "${of_one}" "${of_several}")
  if(A_UNPARSED_ARGUMENTS)
    list(GET A_UNPARSED_ARGUMENTS 0 unknown)
    _dbc_near("${unknown}" near C_INTERFACE ${of_one} ${of_several})
    if(unknown MATCHES "[.]dyn$")
      set(near "; did you mean `SOURCE ${unknown}`?")
    endif()
    message(FATAL_ERROR "dbc_add_model(${target}): there is no argument `${unknown}`${near}")
  endif()
  if(NOT A_SOURCE)
    message(FATAL_ERROR "usage: dbc_add_model(<target> SOURCE <model.dyn> [DIMS name=number ...] [REAL f32|f64] [MODE infer|train] [GRADIENTS name ...] [RECOMPUTE none|cheap|cells] [WEIGHTS f32|bf16] [TABLE_BUDGET bytes] [INCLUDE dir ...] [C_INTERFACE] [TARGETS cpu [cuda]] [GPU_MATH f32|tf32] [GPU_BLAS never|auto|always] [CUDA_ARCHITECTURES sm ...])")
  endif()
  if(NOT CMAKE_CXX_COMPILER)
    message(FATAL_ERROR "dbc_add_model(${target}): a model is C++, which is no language of this project: project(<name> C CXX)")
  endif()
  foreach(each ${A_DIMS})
    if(NOT each MATCHES "^[A-Za-z_][A-Za-z0-9_]*=-?[0-9]+$")
      message(FATAL_ERROR "dbc_add_model(${target}): DIMS takes name=number, not `${each}`")
    endif()
  endforeach()
  set(cuda FALSE)
  foreach(each ${A_TARGETS})
    if(each STREQUAL "cuda")
      set(cuda TRUE)
    elseif(NOT each STREQUAL "cpu")
      message(FATAL_ERROR "dbc_add_model(${target}): there is no target `${each}`, only cpu and cuda")
    endif()
  endforeach()
  if(cuda AND NOT CMAKE_CUDA_COMPILER)
    message(STATUS "dbc_add_model(${target}): CUDA is not an enabled language here, so it is for the CPU alone")
    set(cuda FALSE)
  endif()
  if(A_MODE AND NOT A_MODE MATCHES "^(infer|train)$")
    message(FATAL_ERROR "dbc_add_model(${target}): there is no mode `${A_MODE}`, only infer and train")
  endif()
  if((A_GRADIENTS OR A_RECOMPUTE) AND NOT A_MODE STREQUAL "train")
    message(FATAL_ERROR "dbc_add_model(${target}): GRADIENTS and RECOMPUTE go with MODE train")
  endif()
  get_filename_component(source ${A_SOURCE} ABSOLUTE)
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "dbc_add_model(${target}): there is no file ${source}")
  endif()
  # Files are named after the model, which the first declaration of the source says, behind comments. A model that is renamed
  # has other files: then CMake runs again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/|//[^\n]*" " " text "${text}")
  if(NOT text MATCHES "^[ \t\r\n]*model[ \t\r\n]+([A-Za-z_][A-Za-z0-9_]*)[ \t\r\n]*;")
    message(FATAL_ERROR "dbc_add_model(${target}): ${source} does not begin with `model <name>;`")
  endif()
  set(model ${CMAKE_MATCH_1})

  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir)
  set(options -o ${dir})
  foreach(dim ${A_DIMS})
    list(APPEND options -D ${dim})
  endforeach()
  foreach(include ${A_INCLUDE})
    get_filename_component(include ${include} ABSOLUTE)
    list(APPEND options -I ${include})
  endforeach()
  if(A_REAL)
    list(APPEND options --real ${A_REAL})
  endif()
  if(A_MODE)
    list(APPEND options --mode ${A_MODE})
  endif()
  if(A_RECOMPUTE)
    list(APPEND options --recompute ${A_RECOMPUTE})
  endif()
  foreach(name ${A_GRADIENTS})
    list(APPEND options --gradient ${name})
  endforeach()
  if(A_WEIGHTS)
    list(APPEND options --weights ${A_WEIGHTS})
  endif()
  if(DEFINED A_TABLE_BUDGET)
    list(APPEND options --table-budget ${A_TABLE_BUDGET})
  endif()
  set(kernels)
  set(byproducts)
  if(A_C_INTERFACE)
    list(APPEND options --c-interface)
    list(APPEND byproducts ${dir}/${model}_c.h)
  endif()
  if(cuda)
    list(APPEND options --target cpu,cuda)
    if(A_GPU_MATH)
      list(APPEND options --gpu-math ${A_GPU_MATH})
    endif()
    if(A_GPU_BLAS)
      list(APPEND options --gpu-blas ${A_GPU_BLAS})
    endif()
    set(kernels ${dir}/${model}.cu)
    list(APPEND byproducts ${dir}/${model}.cuh)
  endif()
  # dbc leaves files alone that would not change, so the rule's own output is a stamp.
  file(MAKE_DIRECTORY ${dir})
  add_custom_command(
    OUTPUT ${dir}/${model}.stamp
    BYPRODUCTS ${dir}/${model}.h ${dir}/${model}.cpp ${dir}/${model}.json ${kernels} ${byproducts}
    COMMAND dbc::dbc compile ${source} ${options}
    COMMAND ${CMAKE_COMMAND} -E touch ${dir}/${model}.stamp
    DEPENDS ${source} dbc::dbc
    DEPFILE ${dir}/${model}.d
    COMMENT "dbc: ${model}"
    VERBATIM)
  add_custom_target(${target}_generate DEPENDS ${dir}/${model}.stamp)

  set_source_files_properties(${dir}/${model}.cpp ${kernels} PROPERTIES GENERATED ON)
  add_library(${target} STATIC ${dir}/${model}.cpp ${kernels})
  add_dependencies(${target} ${target}_generate)
  # For "<model name>.h" alone: a model may be called `math`, and <math.h> goes on being C's.
  target_compile_options(${target} PUBLIC $<$<COMPILE_LANGUAGE:C,CXX>:-iquote${dir}>)
  # Generated code is written to be vectorised. Which additions may become one rounding is fixed by dbc::runtime's flags; a
  # project's own -ffast-math is for its other sources.
  set(optimisation $<$<NOT:$<CONFIG:Debug>>:-O3>)
  if(DBC_SANITIZE) # clang takes minutes for what sanitizers add to that
    set(optimisation "")
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-fast-math -Wall -Wextra ${optimisation}>)
  if(cuda)
    if(NOT A_CUDA_ARCHITECTURES)
      set(A_CUDA_ARCHITECTURES 80 90)
    endif()
    foreach(architecture IN LISTS A_CUDA_ARCHITECTURES)
      if(architecture MATCHES "^[0-9]+" AND CMAKE_MATCH_0 LESS 80)
        message(FATAL_ERROR "dbc_add_model(${target}): CUDA_ARCHITECTURES ${architecture}: kernels need the tensor cores of sm_80 or later")
      endif()
    endforeach()
    list(TRANSFORM A_CUDA_ARCHITECTURES PREPEND sm_ OUTPUT_VARIABLE architectures)
    list(JOIN architectures " " architectures)
    set_target_properties(${target} PROPERTIES
      CUDA_ARCHITECTURES "${A_CUDA_ARCHITECTURES}" CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
    # Results rely on the first; kernels call constexpr functions of the C++ library by the second.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra>)
    target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:DBC_CUDA_ARCHITECTURES="${architectures}">)
  endif()
  target_link_libraries(${target} PUBLIC dbc::runtime)
  if(cuda AND A_GPU_BLAS AND NOT A_GPU_BLAS STREQUAL "never")
    find_package(CUDAToolkit REQUIRED)
    target_link_libraries(${target} PUBLIC CUDA::cublasLt)
  endif()
  set_target_properties(${target} PROPERTIES DBC_MODEL_HEADER ${dir}/${model}.h)
endfunction()

# "; did you mean `DIMS`?" for DIM: the name that has the longest beginning in common with what is written, two letters at least.
function(_dbc_near written result)
  string(TOUPPER "${written}" upper)
  set(longest 1)
  set(near "")
  foreach(name ${ARGN})
    string(LENGTH "${name}" length)
    foreach(letters RANGE 1 ${length})
      string(SUBSTRING "${name}" 0 ${letters} beginning)
      string(FIND "${upper}" "${beginning}" at)
      if(at EQUAL 0 AND letters GREATER longest)
        set(longest ${letters})
        set(near "; did you mean `${name}`?")
      endif()
    endforeach()
  endforeach()
  set(${result} "${near}" PARENT_SCOPE)
endfunction()
