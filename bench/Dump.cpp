// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "bench/Dump.h"

#include <nlohmann/json.hpp>

namespace dbc::bench {

std::string dump(const std::string &entry, const std::string &data, const Inputs &inputs) {
  using Json = nlohmann::ordered_json;
  Json tables = Json::array();
  for (const Table &table : inputs.tables()) {
    Json columns = Json::array();
    for (const Column &column : table.columns)
      columns.push_back({{"name", column.name},
                         {"target", column.target},
                         {"extent", column.extent},
                         {"offsets", column.offsets},
                         {"values", column.extent > 0 ? Json(column.floats) : Json(column.ints)}});
    tables.push_back({{"name", table.name},
                      {"begin", table.begin},
                      {"kinds", table.kinds},
                      {"columns", std::move(columns)}});
  }
  return Json{{"entry", entry}, {"data", data}, {"tables", std::move(tables)}}.dump() + "\n";
}

} // namespace dbc::bench
