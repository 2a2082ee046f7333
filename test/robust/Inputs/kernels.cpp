// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which instruction set products use on this machine.
#include <cstdio>
#include <dbc/product.h>

int main() { std::puts(dbc::product_kernels()); }
