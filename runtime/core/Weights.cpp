// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Parameters and their initial values. Drawing uses additions, multiplications, divisions and square roots
// only, which IEEE 754 fixes to the bit, and no function of the C library: the same seed gives the same
// weights on every machine.
#include <dbc/counted.h>
#include <dbc/product.h>
#include <dbc/weights.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace dbc {

namespace {

/// PCG-XSH-RR 64/32 (O'Neill).
class Generator {
public:
  Generator(uint64_t seed, uint64_t stream) : increment_(stream << 1 | 1) {
    next();
    state_ += seed;
    next();
  }
  uint32_t next() {
    uint64_t old = state_;
    state_ = old * 6364136223846793005u + increment_;
    uint32_t mixed = static_cast<uint32_t>(((old >> 18) ^ old) >> 27);
    uint32_t turn = static_cast<uint32_t>(old >> 59);
    return mixed >> turn | mixed << ((32 - turn) & 31);
  }
  /// In [0, 1), 53 bits.
  double uniform() {
    uint64_t high = next() >> 5, low = next() >> 6;
    return static_cast<double>(high * 67108864 + low) * (1.0 / 9007199254740992.0);
  }
  /// Marsaglia's polar method.
  double normal() {
    if (spare_given_) {
      spare_given_ = false;
      return spare_;
    }
    double u, v, s;
    do {
      u = 2 * uniform() - 1;
      v = 2 * uniform() - 1;
      s = u * u + v * v;
    } while (s >= 1 || s == 0);
    double f = std::sqrt(-2 * logarithm(s) / s);
    spare_ = v * f;
    spare_given_ = true;
    return u * f;
  }

private:
  /// ln x for 0 < x < 1 that is not subnormal.
  static double logarithm(double x) {
    int exponent;
    double m = std::frexp(x, &exponent); // exact
    double f = (m - 1) / (m + 1), z = f * f, sum = 0;
    for (int k = 41; k > 0; k -= 2) // |f| <= 1/3: 21 terms reach the last bit
      sum = sum * z + 1.0 / k;
    return 2 * f * sum + exponent * 0.69314718055994530942;
  }

  uint64_t state_ = 0, increment_;
  double spare_ = 0;
  bool spare_given_ = false;
};

/// FNV-1a, 64 bits.
uint64_t name_hash(const std::string &name) {
  uint64_t h = 14695981039346656037u;
  for (unsigned char c : name)
    h = (h ^ c) * 1099511628211u;
  return h;
}

} // namespace

Weights::Weights(const ModelInfo &info)
    : info_(&info), values_(info.params.size()), given_(info.params.size(), false) {
  // Other weights where these were are others.
  static std::atomic<uint64_t> made{0};
  accesses_ = ++made << 32;
  for (size_t p = 0; p < values_.size(); ++p) {
    size_t n = 1;
    for (int64_t e : info.params[p].extents)
      n *= static_cast<size_t>(e);
    values_[p].assign(n, 0);
  }
}

int32_t Weights::find(const std::string &name) const {
  for (int32_t p = 0; p < count(); ++p)
    if (info_->params[p].name == name)
      return p;
  return -1;
}

float *Weights::data(const std::string &name) {
  int32_t p = find(name);
  return p < 0 ? nullptr : data(p);
}

Status Weights::set(const std::string &name, const float *values, size_t count) {
  int32_t p = find(name);
  if (p < 0)
    return Status::error(Code::bad_weights, info_->name + ": there is no parameter `" + name + "`");
  if (count != size(p))
    return Status::error(Code::bad_weights, info_->name + ": parameter `" + name + "` has " +
                                                counted(size(p), "element") + ", " + std::to_string(count) +
                                                " were given");
  if (values == nullptr && count > 0)
    return Status::error(Code::bad_weights, info_->name + ": parameter `" + name +
                                                "`: no elements are given, but a null pointer");
  std::copy(values, values + count, data(p));
  given_[p] = true;
  return Status();
}

void Weights::draw(uint64_t seed) {
  for (int32_t p = 0; p < count(); ++p) {
    const ParamInfo &param = info_->params[p];
    Generator random(seed, name_hash(param.name));
    InitInfo init = param.init;
    if (param.is_const)
      init = {InitInfo::Kind::Normal, 0, 1};
    if (init.kind == InitInfo::Kind::Glorot) {
      // Over the last two axes: fan in + fan out; a vector counts as one row.
      size_t rank = param.extents.size();
      double in = rank > 0 ? static_cast<double>(param.extents[rank - 1]) : 1;
      double out = rank > 1 ? static_cast<double>(param.extents[rank - 2]) : 1;
      double bound = std::sqrt(6 / (in + out));
      init = {InitInfo::Kind::Uniform, -bound, bound};
    }
    float *to = data(p);
    for (size_t i = 0; i < size(p); ++i)
      switch (init.kind) {
      case InitInfo::Kind::Constant:
        to[i] = static_cast<float>(init.a);
        break;
      case InitInfo::Kind::Normal:
        to[i] = static_cast<float>(init.a + init.b * random.normal());
        break;
      default:
        to[i] = static_cast<float>(init.a + (init.b - init.a) * random.uniform());
        break;
      }
    mark_given(p);
  }
}

void Weights::round_to_bf16(int32_t param) {
  float *values = data(param);
  for (size_t i = 0; i < size(param); ++i)
    values[i] = to_float(to_bf16(values[i]));
}

Status Weights::check() const {
  std::string missing;
  for (int32_t p = 0; p < count(); ++p)
    if (!given(p))
      missing += (missing.empty() ? "`" : ", `") + info_->params[p].name + "`";
  if (missing.empty())
    return Status();
  return Status::error(Code::bad_weights, info_->name + ": not given: " + missing);
}

} // namespace dbc
