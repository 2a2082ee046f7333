# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# dbc_add_model(<target> SOURCE <model.dyn>
#               [DIMS <name>=<number> ...]   # dims, as -D
#               [REAL f32|f64]               # the number that the model computes with, f32 if not said
#               [WEIGHTS f32|bf16]           # how matrices are kept that products read, as --weights
#               [TABLE_BUDGET <bytes>]       # for functions of one index that are computed at load, as --table-budget
#               [INCLUDE <dir> ...])         # where imported modules are looked for, as -I
#
# Makes the static library <target> from a model. What links it can include "<model name>.h" and gets dbc::runtime along.
# The model is compiled again when it, a module that it imports, or dbc itself changes; the C++ only if that changes it.
function(dbc_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "SOURCE;REAL;WEIGHTS;TABLE_BUDGET" "DIMS;INCLUDE")
  if(NOT A_SOURCE OR A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "usage: dbc_add_model(<target> SOURCE <model.dyn> [DIMS name=number ...] [REAL f32|f64] [WEIGHTS f32|bf16] [TABLE_BUDGET bytes] [INCLUDE dir ...])")
  endif()
  get_filename_component(source ${A_SOURCE} ABSOLUTE)
  # Files are named after the model, which the first declaration of the source says.
  file(STRINGS ${source} declaration REGEX "^[ \t]*model[ \t]+[A-Za-z_][A-Za-z0-9_]*[ \t]*;" LIMIT_COUNT 1)
  string(REGEX REPLACE "^[ \t]*model[ \t]+([A-Za-z_][A-Za-z0-9_]*).*" "\\1" model "${declaration}")
  if(NOT model)
    message(FATAL_ERROR "dbc_add_model(${target}): ${source} has no line `model <name>;`")
  endif()

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
  if(A_WEIGHTS)
    list(APPEND options --weights ${A_WEIGHTS})
  endif()
  if(DEFINED A_TABLE_BUDGET)
    list(APPEND options --table-budget ${A_TABLE_BUDGET})
  endif()
  # dbc leaves files alone that would not change, so the rule's own output is a stamp.
  file(MAKE_DIRECTORY ${dir})
  add_custom_command(
    OUTPUT ${dir}/${model}.stamp
    BYPRODUCTS ${dir}/${model}.h ${dir}/${model}.cpp ${dir}/${model}.json
    COMMAND dbc::dbc compile ${source} ${options}
    COMMAND ${CMAKE_COMMAND} -E touch ${dir}/${model}.stamp
    DEPENDS ${source} dbc::dbc
    DEPFILE ${dir}/${model}.d
    COMMENT "dbc: ${model}"
    VERBATIM)
  add_custom_target(${target}_generate DEPENDS ${dir}/${model}.stamp)

  set_source_files_properties(${dir}/${model}.cpp PROPERTIES GENERATED ON)
  add_library(${target} STATIC ${dir}/${model}.cpp)
  add_dependencies(${target} ${target}_generate)
  # For "<model name>.h" alone: a model may be called `math`, and <math.h> goes on being C's.
  target_compile_options(${target} PUBLIC -iquote${dir})
  # Generated code is written to be vectorised. Which additions may become one rounding is fixed by dbc::runtime's flags.
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<NOT:$<CONFIG:Debug>>:-O3>)
  target_link_libraries(${target} PUBLIC dbc::runtime)
  set_target_properties(${target} PROPERTIES DBC_MODEL_HEADER ${dir}/${model}.h)
endfunction()
