// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "llvm/Support/LSP/Transport.h"
#include <functional>

namespace dbc::lsp {

/// Messages on stdin. What is no message of JSON-RPC, or is nested deeper than any of the protocol, is left
/// out, with a word on stderr.
class Input : public llvm::lsp::JSONTransportInput {
public:
  /// Called for each message that is left out, with an error of JSON-RPC and why.
  using Refuse = std::function<void(llvm::lsp::ErrorCode code, const char *why)>;

  explicit Input(Refuse refuse) : refuse_(std::move(refuse)) {}
  bool hasError() const override { return file_.hasError(); }
  bool isEndOfInput() const override { return file_.isEndOfInput(); }
  llvm::LogicalResult readStandardMessage(std::string &json) override;
  llvm::LogicalResult readDelimitedMessage(std::string &json) override;

private:
  llvm::LogicalResult checked(llvm::LogicalResult read, const std::string &json) const;

  Refuse refuse_;
  llvm::lsp::JSONTransportInputOverFile file_{stdin};
};

} // namespace dbc::lsp
