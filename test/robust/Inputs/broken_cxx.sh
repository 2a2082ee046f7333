# A C++ compiler that computes relu for tanh. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
# usage: broken_cxx.sh COMPILER ARGUMENT... SOURCE.cpp
for source; do :; done
sed -i 's/math::tanh(/math::relu(/g' "$source"
exec "$@"
