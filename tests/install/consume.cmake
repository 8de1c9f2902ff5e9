# Configures, builds and runs the consumer. `how` is packages, find_package, build_tree or fetch_content.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Installed files must not contain the build path.
function(refuse_paths_of_this_machine root)
  file(GLOB_RECURSE texts ${root}/*.cmake ${root}/*.pc)
  foreach(file IN LISTS texts)
    file(STRINGS ${file} lines)
    foreach(line IN LISTS lines)
      foreach(path IN ITEMS "${coxswain_build}" "${coxswain_source}")
        string(FIND "${line}" "${path}" at)
        if(NOT at EQUAL -1)
          message(FATAL_ERROR "${file} names a path of this machine: ${line}")
        endif()
      endforeach()
    endforeach()
  endforeach()
endfunction()

# Unpacks the packages into a separate root directory, without root privileges.
function(install_packages root)
  run(cpack --config ${coxswain_build}/CPackConfig.cmake -B ${work}/packages)
  set(names coxswain libcoxswain-dev)
  file(GLOB python_package ${work}/packages/python3-coxswain_*.deb)
  if(python_package)
    list(APPEND names python3-coxswain)
  endif()
  foreach(name IN LISTS names)
    file(GLOB package ${work}/packages/${name}_*.deb)
    run(dpkg-deb --extract ${package} ${root})
    execute_process(COMMAND dpkg-deb --field ${package} Depends OUTPUT_VARIABLE ${name}_depends
      COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS "${name} depends on ${${name}_depends}")
  endforeach()
  if(NOT coxswain_depends MATCHES "libprotobuf-lite" OR
     NOT libcoxswain-dev_depends MATCHES "libboost1[.][0-9]+-dev")
    message(FATAL_ERROR "The packages do not say what they need.")
  endif()

  run(${root}/usr/bin/coxswain version)
  foreach(file IN ITEMS
      share/bash-completion/completions/coxswain share/doc/coxswain/examples/jobset.yaml
      lib/systemd/system/coxswain@.service share/doc/coxswain/copyright
      share/doc/libcoxswain-dev/copyright include/coxswain/client/client.hpp)
    file(GLOB found ${root}/usr/${file})
    if(NOT found)
      message(FATAL_ERROR "The packages lack /usr/${file}.")
    endif()
  endforeach()
endfunction()

# A Python job of one task with only the installed package, which must be small.
function(run_python root)
  file(GLOB package ${root}/usr/lib/python3*/*-packages/coxswain)
  if(NOT package)
    return()
  endif()
  file(GLOB module ${package}/_native*.so)
  file(SIZE ${module} size)
  message(STATUS "the Python module has ${size} bytes")
  if(size GREATER 9000000)
    message(FATAL_ERROR "The Python module has more than 9 MB.")
  endif()
  cmake_path(GET package PARENT_PATH directory)
  set(ENV{PYTHONPATH} ${directory})
  set(ENV{PYTHONDONTWRITEBYTECODE} 1)
  run(python3 -c
"import coxswain
with coxswain.Coordinator(1) as coordinator, coxswain.Client(coordinator.address, 0) as job:
    assert job.barrier('b') == 1 and coxswain.__file__.startswith('${directory}/')")
endfunction()

# What pkg-config says of a package, as a list.
function(flags_of package result)
  execute_process(COMMAND pkg-config ${ARGN} ${package} OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

function(expect_equal what found expected)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${what}: '${found}' instead of '${expected}'")
  endif()
endfunction()

# Programs that use the client alone, in C and in C++, with the flags of pkg-config: what they link is
# few, and what they include compiles soon.
function(use_pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${work}/prefix/lib/pkgconfig)
  flags_of(coxswain-client libraries --libs-only-l)
  expect_equal("a client's libraries" "${libraries}" "-lcoxswain_client;-lstdc++;-lm;-lssl;-lcrypto")
  flags_of(coxswain-client all --cflags --libs)
  run(cc -std=c11 -Wall -Wextra -Wpedantic -Werror -o ${work}/plugin ${consumer}/plugin.c ${all})
  run(${work}/plugin)

  # The processor's time: others may use it meanwhile.
  file(WRITE ${work}/first.cpp
    "#include \"coxswain/client/client.hpp\"\nint main() { coxswain::client nothing; }\n")
  execute_process(COMMAND bash -c "TIMEFORMAT=%U; time \"$@\"" bash
    ${compiler} -std=c++20 -I${work}/prefix/include -c -o ${work}/first.o ${work}/first.cpp
    ERROR_VARIABLE took ERROR_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "the client's header compiles in ${took} s")
  if(took GREATER 9)  # less than 3 on an idle machine
    message(FATAL_ERROR "The client's header has become slow to compile.")
  endif()
  run(${compiler} -o ${work}/first ${work}/first.o ${all})

  set(source ${work}/examples/embed.cpp)
  flags_of(coxswain all --cflags --libs)
  run(${compiler} -std=c++20 -o ${work}/embed ${source} ${all})
  run(${work}/embed)
endfunction()

# Of the program that links coxswain::client.
function(count_libraries)
  execute_process(COMMAND ninja -C ${work}/build -t commands worker OUTPUT_VARIABLE commands
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^/ ]+[.](a|so)" libraries "${commands}")
  expect_equal("the libraries of coxswain::client" "${libraries}"
    "libcoxswain_client.a;libssl.so;libcrypto.so")
endfunction()

# Optimizing the layers again would take minutes and show nothing new.
set(settings -G Ninja -D CMAKE_BUILD_TYPE= "-DCMAKE_CXX_COMPILER=${compiler}"
  "-DCMAKE_CXX_FLAGS=${flags}")

if(NOT how STREQUAL "fetch_content")
  file(REMOVE_RECURSE ${work})
endif()
run(${python} -B ${consumer}/../examples.py ${coxswain_source}/src/coxswain/README.md ${work}/examples)
set(use find_package)
set(targets your_program)
if(how STREQUAL "packages")
  install_packages(${work}/prefix)
  run_python(${work}/prefix)
  list(APPEND settings -D CMAKE_PREFIX_PATH=${work}/prefix/usr)
elseif(how STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${coxswain_build} --prefix ${work}/prefix)
  use_pkg_config()
  list(APPEND settings -D CMAKE_PREFIX_PATH=${work}/prefix)
  list(APPEND targets worker fragments)
elseif(how STREQUAL "build_tree")
  set(ENV{PATH} "${coxswain_build}/bin:$ENV{PATH}")
else()
  set(use FetchContent)
  list(APPEND settings -D FETCHCONTENT_SOURCE_DIR_COXSWAIN=${coxswain_source} -D COXSWAIN_UNITY=ON)
endif()
refuse_paths_of_this_machine(${work}/prefix)

run(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build -D EXAMPLES=${work}/examples -D USE=${use} ${settings})
run(${CMAKE_COMMAND} --build ${work}/build --parallel 2 --target ${targets})
run(${work}/build/your_program)
if(how STREQUAL "find_package")
  count_libraries()
  if(EXISTS ${work}/prefix/bin/coxswain)
    run(${work}/prefix/bin/coxswain run -n 2 -- ${work}/build/worker --rounds 3)
  endif()
endif()
