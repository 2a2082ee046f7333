// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "llvm/Support/LSP/Transport.h"

namespace dbc::lsp {

/// Messages on stdin. What is no message of JSON-RPC, or is nested deeper than any of the protocol, is left
/// out, with a word on stderr.
class Input : public llvm::lsp::JSONTransportInput {
public:
  bool hasError() const override { return file_.hasError(); }
  bool isEndOfInput() const override { return file_.isEndOfInput(); }
  llvm::LogicalResult readStandardMessage(std::string &json) override;
  llvm::LogicalResult readDelimitedMessage(std::string &json) override;

private:
  llvm::lsp::JSONTransportInputOverFile file_{stdin};
};

} // namespace dbc::lsp
