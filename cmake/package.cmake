# What `make install`, `make deb` and `make dist` put where: the program, what shells and man know of
# it, its licence and the runs to start from.

# Said by the program itself, so that they are never older than it.
set(share ${PROJECT_BINARY_DIR}/share)
file(MAKE_DIRECTORY ${share})
add_custom_command(OUTPUT ${share}/headway.bash ${share}/_headway ${share}/headway.1.gz VERBATIM
                   DEPENDS headway headway_pack
                   COMMAND headway completion bash > ${share}/headway.bash
                   COMMAND headway completion zsh > ${share}/_headway
                   COMMAND headway help --man > ${share}/headway.1
                   COMMAND headway_pack ${share}/headway.1 ${share}/headway.1.gz)
add_custom_command(OUTPUT ${share}/changelog.gz VERBATIM
                   DEPENDS ${PROJECT_SOURCE_DIR}/packaging/changelog headway_pack
                   COMMAND headway_pack ${PROJECT_SOURCE_DIR}/packaging/changelog
                           ${share}/changelog.gz)
add_custom_target(headway_package DEPENDS headway ${share}/headway.bash ${share}/changelog.gz)

install(TARGETS headway RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${share}/headway.bash RENAME headway
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${share}/_headway DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${share}/headway.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/packaging/copyright
              ${share}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(HEADWAY_STATIC)  # it holds the libraries, and so says under which licences
  install(DIRECTORY ${PROJECT_BINARY_DIR}/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

# cpack -G DEB
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME headway)
set(CPACK_PACKAGE_CONTACT "Headway maintainers <maintainers@headway.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "performance model of large-scale training")
set(CPACK_PACKAGE_DESCRIPTION
"Headway predicts how long one step of training a large model takes on a
cluster and why, whether it fits in memory, which messages it sends, what it
costs and which layout is best, and reads what a real run did. It answers on
the command line, over HTTP and in a browser.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What records and replays programs of MPI is of use beside either: the package needs neither.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/without-mpi.cmake)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin | mpich")
include(CPack)
