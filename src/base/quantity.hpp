// Units as types. A Quantity holds a value in SI units and carries its dimension in its type, so
// that bytes divided by bytes per second *is* seconds, and a wrong mix does not compile.
#pragma once

#include <compare>

namespace headway {

/// A value in SI units with the dimension second^Time · byte^Byte · flop^Flop · joule^Joule.
template <int Time, int Byte, int Flop, int Joule>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double in_si_units) : value_(in_si_units) {}

  /// The number in SI units (s, B, FLOP, J and their quotients).
  constexpr double value() const { return value_; }

  constexpr Quantity operator-() const { return Quantity(-value_); }
  constexpr Quantity& operator+=(Quantity other) { return value_ += other.value_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value_ -= other.value_, *this; }
  constexpr Quantity& operator*=(double factor) { return value_ *= factor, *this; }
  constexpr Quantity& operator/=(double divisor) { return value_ /= divisor, *this; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(Quantity a, double b) { return Quantity(a.value_ * b); }
  friend constexpr Quantity operator*(double a, Quantity b) { return Quantity(a * b.value_); }
  friend constexpr Quantity operator/(Quantity a, double b) { return Quantity(a.value_ / b); }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  double value_ = 0;
};

namespace detail {
// A product whose dimensions cancel is a plain number.
template <int T, int B, int F, int J>
struct Reduced {
  using type = Quantity<T, B, F, J>;
};
template <>
struct Reduced<0, 0, 0, 0> {
  using type = double;
};
}  // namespace detail

template <int T1, int B1, int F1, int J1, int T2, int B2, int F2, int J2>
constexpr auto operator*(Quantity<T1, B1, F1, J1> a, Quantity<T2, B2, F2, J2> b) {
  using Product = typename detail::Reduced<T1 + T2, B1 + B2, F1 + F2, J1 + J2>::type;
  return Product(a.value() * b.value());
}

template <int T1, int B1, int F1, int J1, int T2, int B2, int F2, int J2>
constexpr auto operator/(Quantity<T1, B1, F1, J1> a, Quantity<T2, B2, F2, J2> b) {
  using Quotient = typename detail::Reduced<T1 - T2, B1 - B2, F1 - F2, J1 - J2>::type;
  return Quotient(a.value() / b.value());
}

using Seconds = Quantity<1, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0>;
using Flops = Quantity<0, 0, 1, 0>;  // floating-point operations, a count, not a rate
using Joules = Quantity<0, 0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1, 0>;
using Watts = Quantity<-1, 0, 0, 1>;

inline namespace literals {
constexpr Seconds operator""_s(long double v) {
  return Seconds(static_cast<double>(v));
}
constexpr Seconds operator""_us(long double v) {
  return Seconds(static_cast<double>(v) * 1e-6);
}
constexpr Bytes operator""_B(unsigned long long v) {
  return Bytes(static_cast<double>(v));
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 1024 * 1024);
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 1024 * 1024 * 1024);
}
}  // namespace literals

}  // namespace headway
