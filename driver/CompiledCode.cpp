// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/CompiledCode.h"
#include "driver/Files.h"
#include "driver/surroundings/Surroundings.h"
#include "ir/Kernel/Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dbc/product.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// The compiler plans scratch and shares of sums for the runtime's kernels.
static_assert(dbc::kernel::kSumTileRows == dbc::kMostTileRows);

namespace dbc::driver {

namespace fs = llvm::sys::fs;

static std::vector<std::string> words(llvm::StringRef text) {
  std::vector<std::string> out;
  llvm::SmallVector<llvm::StringRef> tokens;
  llvm::SplitString(text, tokens);
  for (llvm::StringRef token : tokens)
    out.push_back(token.str());
  return out;
}

/// The compiler's command up to the file names. $CXX may hold arguments too ("ccache g++"). $CXXFLAGS come
/// after our optimisation, which they may change, and before the flags that results rely on, which they may
/// not.
static llvm::Expected<std::vector<std::string>> compilerCommand() {
  std::vector<std::string> command = words(llvm::sys::Process::GetEnv("CXX").value_or("c++"));
  if (command.empty())
    command = {"c++"};
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(command[0]);
  if (!program)
    return llvm::createStringError("the C++ compiler `" + command[0] + "` was not found; set CXX to one");
  command[0] = *program;
  std::string chosen = llvm::sys::Process::GetEnv("CXXFLAGS").value_or("");
  for (const std::string &flag : words("-std=c++17 " DBC_OPTIMISATION " -fPIC " + chosen +
                                       " " DBC_NUMERIC_FLAGS " " DBC_SANITIZE_FLAGS))
    command.push_back(flag);
  return command;
}

/// nvcc, and what it wants to hear; empty where no kernels are to be compiled by it.
static llvm::Expected<std::vector<std::string>> kernelCommand(const std::string &cxx) {
  std::string name = llvm::sys::Process::GetEnv("CUDACXX").value_or("nvcc");
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(name);
  if (!program)
    program = llvm::sys::findProgramByName(name, {"/usr/local/cuda/bin"});
  if (!program)
    return llvm::createStringError("the CUDA compiler `" + name + "` was not found; set CUDACXX to one");
  std::vector<std::string> command = {*program, "-ccbin", cxx};
  for (const std::string &flag :
       words("-std=c++17 -O3 -DNDEBUG -fmad=false --expt-relaxed-constexpr -Xcompiler -fPIC "
             "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]"))
    command.push_back(flag);
  command.push_back("-DDBC_CUDA_ARCHITECTURES=\"sm_80 sm_90\""); // what is said where a GPU has no code
  return command;
}

/// A library of dbc.
static std::string archive(const std::string &name) {
  return surroundings().archives + "/libdbc_" + name + ".a";
}

/// The libraries of dbc that a program is linked with, in the linker's order.
static std::vector<std::string> archives(const GeneratedCode &code) {
  std::vector<std::string> files;
  if (code.mpi)
    files.push_back(archive("mpi"));
  for (const char *name : {"trainer", "runtime_io", "runtime"})
    files.push_back(archive(name));
  return files;
}

bool hasMpi() { return !words(DBC_MPI_LIBRARIES).empty() && fs::exists(archive("mpi")); }

/// MPI's, which a program finds where they are now.
static std::vector<std::string> mpiLibraries() {
  std::vector<std::string> arguments;
  for (const std::string &library : words(DBC_MPI_LIBRARIES)) {
    arguments.push_back(library);
    arguments.push_back("-Wl,-rpath," + llvm::sys::path::parent_path(library).str());
  }
  return arguments;
}

/// Everything that what is made depends on: sources, command, the compiler itself, and what is in the
/// runtime's headers and, for a program, libraries; not where they lie.
static std::string key(const GeneratedCode &code, const std::vector<std::string> &command) {
  std::vector<std::string> texts = {code.model,        code.header,  code.source,
                                    code.deviceHeader, code.kernels, code.main};
  texts.insert(texts.end(), command.begin(), command.end());
  fs::file_status status;
  if (!fs::status(command[0], status))
    texts.push_back(std::to_string(status.getSize()) + "@" +
                    std::to_string(status.getLastModificationTime().time_since_epoch().count()));
  std::error_code error;
  std::vector<std::string> files;
  for (const char *folder : {"/dbc", "/dbc/cuda", "/dbc/train"})
    for (fs::directory_iterator it(surroundings().include + folder, error), end; it != end && !error;
         it.increment(error))
      if (llvm::StringRef(it->path()).ends_with(".h"))
        files.push_back(it->path());
  std::sort(files.begin(), files.end());
  if (!code.main.empty())
    llvm::append_range(files, archives(code));
  for (const std::string &file : files)
    if (llvm::Expected<std::string> text = readFile(file))
      texts.push_back(std::move(*text));
    else
      llvm::consumeError(text.takeError());
  return hashOf(texts);
}

/// The compilers' commands up to the file names.
struct Compilers {
  std::vector<std::string> cxx, kernels; ///< `kernels` is empty where the C++ compiler does it all
  std::vector<std::string> all() const {
    std::vector<std::string> words = cxx;
    words.insert(words.end(), kernels.begin(), kernels.end());
    return words;
  }
};

/// Runs a compiler; what it says goes to `log`. `started` is false where there was no running it.
static bool runCompiler(const std::vector<std::string> &command, const std::string &log, bool verbose,
                        std::string &failed, bool &started) {
  llvm::SmallVector<llvm::StringRef> arguments(command.begin(), command.end());
  if (verbose)
    llvm::errs() << llvm::join(command, " ") << "\n";
  bool notStarted = false;
  int result = llvm::sys::ExecuteAndWait(command[0], arguments, std::nullopt, {"", log, log}, 0, 0, &failed,
                                         &notStarted);
  started = !notStarted && result != -1;
  return result == 0;
}

/// What the file that is made is called, behind the model's name.
static std::string ending(const GeneratedCode &code) { return code.main.empty() ? ".so" : "-trainer"; }

/// The commands that make the shared object or program `made` + ending of the sources `base`.*, in order.
/// Each source is compiled by itself, as compiler caches know no other way ($CXX may be "ccache g++").
static std::vector<std::vector<std::string>> commandsOf(const GeneratedCode &code, const Compilers &compilers,
                                                        const std::string &base, const std::string &made) {
  std::vector<std::vector<std::string>> commands;
  auto compile = [&](const std::vector<std::string> &compiler, std::initializer_list<std::string> arguments) {
    commands.push_back(compiler);
    commands.back().push_back("-I" + surroundings().include);
    commands.back().push_back("-c");
    commands.back().insert(commands.back().end(), arguments);
  };
  std::vector<std::string> linked = {"-o", made + ending(code), made + ".o"};
  compile(compilers.cxx, {"-o", made + ".o", base + ".cpp"});
  if (!code.kernels.empty()) {
    linked.push_back(made + ".cu.o");
    if (compilers.kernels.empty())
      compile(compilers.cxx, {"-o", made + ".cu.o", "-x", "c++", base + ".cu"});
    else
      compile(compilers.kernels, {"-o", made + ".cu.o", base + ".cu"});
  }
  if (!compilers.kernels.empty()) {
    llvm::SmallString<128> libraries(
        llvm::sys::path::parent_path(llvm::sys::path::parent_path(compilers.kernels[0])));
    llvm::sys::path::append(libraries, "lib64");
    linked.insert(linked.end(),
                  {"-L" + libraries.str().str(), "-lcudart_static", "-ldl", "-lrt", "-lpthread"});
    if (code.blas)
      linked.insert(linked.end(), {"-lcublasLt", "-Wl,-rpath," + libraries.str().str()});
  }
  if (code.main.empty()) {
    linked.push_back("-shared");
  } else {
    compile(compilers.cxx, {"-o", made + "-trainer.o", base + "-trainer.cpp"});
    linked.push_back(made + "-trainer.o");
    llvm::append_range(linked, archives(code));
    if (code.mpi)
      llvm::append_range(linked, mpiLibraries());
    linked.push_back("-pthread");
  }
  commands.push_back(compilers.cxx);
  commands.back().insert(commands.back().end(), linked.begin(), linked.end());
  return commands;
}

/// Writes the sources into `folder` and compiles them there. Programs that do the same at once write the same
/// sources; what each compiles has names of its own until it is whole.
static Exit compile(const GeneratedCode &code, const Compilers &compilers, const std::string &folder,
                    bool verbose) {
  std::string temporary = folder + "/new-XXXXXX";
  if (!::mkdtemp(temporary.data())) {
    const std::error_code error(errno, std::generic_category());
    return fail(llvm::createStringError(error, folder + ": " + error.message()));
  }
  llvm::scope_exit removeTemporary([&] { (void)fs::remove_directories(temporary); });
  std::string base = folder + "/" + code.model, made = temporary + "/" + code.model, log = temporary + "/log";
  const std::pair<const char *, const std::string &> files[] = {{".h", code.header},
                                                                {".cpp", code.source},
                                                                {".cuh", code.deviceHeader},
                                                                {".cu", code.kernels},
                                                                {"-trainer.cpp", code.main}};
  for (const auto &[ending, text] : files)
    if (llvm::Error error = text.empty() ? llvm::Error::success() : writeFile(base + ending, text))
      return fail(std::move(error));
  for (const std::vector<std::string> &command : commandsOf(code, compilers, base, made)) {
    std::string failed;
    bool started = true, fine = runCompiler(command, log, verbose, failed, started);
    if (!started)
      return fail(llvm::createStringError("the C++ compiler `" + command[0] +
                                          "` cannot be started: " + failed + "; set CXX to one that can"));
    if (!fine) {
      llvm::Expected<std::string> words = readFile(log);
      std::string text = words ? *words : failed;
      if (!words)
        llvm::consumeError(words.takeError());
      if (text.empty() && failed.empty()) {
        printError("the C++ compiler `" + command[0] + "` failed without a word; set CXX to one that works");
        return kUserError;
      }
      printError("the generated code does not compile:\n" + text + failed + "\nits sources are kept in " +
                 folder);
      return kInternal;
    }
  }
  if (!fs::exists(made + ending(code))) {
    printError("the C++ compiler `" + compilers.cxx[0] + "` made nothing; set CXX to one that works");
    return kUserError;
  }
  const std::string result = base + ending(code);
  if (std::error_code error = fs::rename(made + ending(code), result))
    return fail(llvm::createStringError(error, result + ": " + error.message()));
  return kFine;
}

/// Removes what compilations have left that were killed. None must be under way.
static void removeUnfinished(const std::string &folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (llvm::sys::path::filename(it->path()).starts_with("new-"))
      (void)fs::remove_directories(it->path());
}

/// Waits until no other program compiles into the folder, and keeps them waiting: so one of the processes
/// that mpirun starts compiles, and not each of them. The lock is gone with what is returned, and where there
/// are none all compile.
static auto lockFolder(const std::string &folder) {
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0 && ::flock(opened, LOCK_EX) == 0)
    removeUnfinished(folder);
  return llvm::scope_exit([opened] {
    if (opened >= 0)
      ::close(opened);
  });
}

/// Compiled models of so many bytes stay in the cache: a thousand, as models go.
constexpr uint64_t kKeptBytes = uint64_t(1) << 30;

static uint64_t bytesIn(const std::string &folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (llvm::ErrorOr<fs::basic_file_status> status = it->status())
      bytes += status->getSize();
  return bytes;
}

/// Removes what was not used for longest, but not what is `used` now. Nobody minds what cannot be removed.
static void prune(const std::string &cache, const std::string &used) {
  std::vector<std::pair<llvm::sys::TimePoint<>, std::string>> folders;
  std::error_code error;
  for (fs::directory_iterator it(cache, error), end; it != end && !error; it.increment(error))
    if (llvm::ErrorOr<fs::basic_file_status> status = it->status(); status && fs::is_directory(*status))
      folders.emplace_back(status->getLastModificationTime(), it->path());
  std::sort(folders.rbegin(), folders.rend());
  uint64_t bytes = 0;
  for (const auto &[time, folder] : folders) {
    bytes += bytesIn(folder);
    if (bytes > kKeptBytes && folder != used)
      (void)fs::remove_directories(folder);
  }
}

/// Whether an ELF file has its end, where the table of its sections stands: what a full disk or a machine
/// that stopped has cut off would be loaded, and crash.
static bool isWhole(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFileSlice(file, sizeof(Elf64_Ehdr), /*Offset=*/0);
  uint64_t size = 0;
  if (!buffer || (*buffer)->getBufferSize() < sizeof(Elf64_Ehdr) || fs::file_size(file, size))
    return false;
  Elf64_Ehdr header;
  std::memcpy(&header, (*buffer)->getBufferStart(), sizeof(header));
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize <= size;
}

/// Calls `use` with what is made of the code, once it is in the cache; and once more after making it anew if
/// `use` does not take what was there, which may be damaged.
static Exit make(const GeneratedCode &code, bool onCpu, bool verbose,
                 llvm::function_ref<bool(const std::string &)> use) {
  Compilers compilers;
  llvm::Expected<std::vector<std::string>> command = compilerCommand();
  if (!command)
    return fail(command.takeError());
  compilers.cxx = std::move(*command);
  if (!code.kernels.empty() && !onCpu) {
    llvm::Expected<std::vector<std::string>> kernels = kernelCommand(compilers.cxx[0]);
    if (!kernels)
      return fail(kernels.takeError());
    compilers.kernels = std::move(*kernels);
  }
  llvm::Expected<std::string> cache = makeCacheFolder();
  if (!cache)
    return fail(cache.takeError());
  const std::string folder = *cache + "/" + code.model + "-" + key(code, compilers.all());
  const std::string made = folder + "/" + code.model + ending(code);
  (void)utimensat(AT_FDCWD, folder.c_str(), nullptr, 0); // used now: what `prune` goes by
  if (isWhole(made) && use(made))
    return kFine;
  if (llvm::Error error = makeFolder(folder))
    return fail(std::move(error));
  const auto lock = lockFolder(folder);
  if (isWhole(made) && use(made))
    return kFine;
  if (llvm::sys::Process::StandardErrIsDisplayed()) // it may take half a minute, the first time
    llvm::errs() << "compiling " << code.model << " with `" << compilers.cxx[0] << "`\n";
  if (Exit exit = compile(code, compilers, folder, verbose))
    return exit;
  prune(*cache, folder);
  (void)use(made);
  return kFine;
}

Exit loadShared(const GeneratedCode &code, bool onCpu, bool verbose, const ModelCode *&loaded,
                std::string *file) {
  void *handle = nullptr;
  auto load = [&](const std::string &object) {
    if (file)
      *file = object;
    handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    return handle != nullptr;
  };
  if (Exit exit = make(code, onCpu, verbose, load))
    return exit;
  if (!handle) {
    printError(std::string("the compiled model cannot be loaded: ") + dlerror());
    return kInternal;
  }
  auto entry = reinterpret_cast<const ModelCode *(*)()>(dlsym(handle, ("dbc_code_" + code.model).c_str()));
  if (!entry) {
    printError("the compiled model has no dbc_code_" + code.model);
    return kInternal;
  }
  loaded = entry();
  return kFine;
}

Exit becomeTrainer(const GeneratedCode &code, bool onCpu, bool verbose, const std::string &argument) {
  int why = 0;
  auto become = [&](const std::string &program) {
    if (verbose)
      llvm::errs() << program << " '" << argument << "'\n";
    std::string name = program, options = argument;
    char *words[] = {name.data(), options.data(), nullptr};
    execv(program.c_str(), words);
    why = errno;
    return false;
  };
  if (Exit exit = make(code, onCpu, verbose, become))
    return exit;
  printError(std::string("the compiled trainer cannot be started: ") + std::strerror(why));
  return kInternal;
}

} // namespace dbc::driver
