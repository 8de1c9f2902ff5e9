// The base of _torch.TorchStore: calls of torch's C++ go to the methods of the Python half. Torch's
// own base has no queues and no list of keys. Compiled by torch_extension.py for the installed
// torch, not by CMake. Not here: what the methods do.

#include <c10/util/intrusive_ptr.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

PYBIND11_DECLARE_HOLDER_TYPE(T, c10::intrusive_ptr<T>, true)

namespace {

namespace py = pybind11;

using bytes = std::vector<std::uint8_t>;
using strings = std::vector<std::string>;

template <class T>
T const& to_python(T const& argument) {
  return argument;
}

py::bytes to_python(bytes const& value) {
  return {reinterpret_cast<char const*>(value.data()), value.size()};
}

py::list to_python(std::vector<bytes> const& values) {
  py::list list;
  for (bytes const& value : values) list.append(to_python(value));
  return list;
}

template <class T>
struct from_python {
  static T convert(py::handle result) { return result.cast<T>(); }
};

template <>
struct from_python<bytes> {
  static bytes convert(py::handle result) {
    auto const text = result.cast<std::string>();
    return {text.begin(), text.end()};
  }
};

template <>
struct from_python<std::vector<bytes>> {
  static std::vector<bytes> convert(py::handle results) {
    std::vector<bytes> values;
    for (py::handle const result : results) values.push_back(from_python<bytes>::convert(result));
    return values;
  }
};

// The timeout is the base's, for both halves. Methods without `override` are not in every torch.
class python_store final : public c10d::Store {
 public:
  c10::intrusive_ptr<c10d::Store> clone() override {
    return call<c10::intrusive_ptr<c10d::Store>>("clone");
  }
  void set(std::string const& key, bytes const& value) override { call<void>("set", key, value); }
  bytes compareSet(std::string const& key, bytes const& expected, bytes const& desired) override {
    return call<bytes>("compare_set", key, expected, desired);
  }
  bytes get(std::string const& key) override { return call<bytes>("get", key); }
  std::int64_t add(std::string const& key, std::int64_t amount) override {
    return call<std::int64_t>("add", key, amount);
  }
  bool deleteKey(std::string const& key) override { return call<bool>("delete_key", key); }
  bool check(strings const& keys) override { return call<bool>("check", keys); }
  std::int64_t getNumKeys() override { return call<std::int64_t>("num_keys"); }
  void wait(strings const& keys) override { call<void>("wait", keys); }
  void wait(strings const& keys, std::chrono::milliseconds const& timeout) override {
    call<void>("wait", keys, std::chrono::duration<double>{timeout}.count());
  }
  void append(std::string const& key, bytes const& value) override {
    call<void>("append", key, value);
  }
  std::vector<bytes> multiGet(strings const& keys) override {
    return call<std::vector<bytes>>("multi_get", keys);
  }
  void multiSet(strings const& keys, std::vector<bytes> const& values) override {
    call<void>("multi_set", keys, values);
  }
  bool hasExtendedApi() const override { return call<bool>("has_extended_api"); }
  void queuePush(std::string const& key, bytes const& value) {
    call<void>("queue_push", key, value);
  }
  bytes queuePop(std::string const& key, bool block) {
    return call<bytes>("queue_pop", key, block);
  }
  std::int64_t queueLen(std::string const& key) { return call<std::int64_t>("queue_len", key); }
  strings listKeys() { return call<strings>("list_keys"); }

 private:
  template <class Result, class... Arguments>
  Result call(char const* name, Arguments const&... arguments) const {
    py::gil_scoped_acquire const gil;
    py::function const method = py::get_override(this, name);
    if (!method) throw std::runtime_error{"the store has ended with its interpreter"};
    py::object const result = method(to_python(arguments)...);
    if constexpr (!std::is_void_v<Result>) return from_python<Result>::convert(result);
  }
};

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  py::module_::import("torch.distributed");
  py::class_<python_store, c10d::Store, c10::intrusive_ptr<python_store>>(module, "Store")
      .def(py::init<>());
}
