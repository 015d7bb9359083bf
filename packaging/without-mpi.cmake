# For dpkg-shlibdeps: what libraries of MPI need is left to who starts a program of theirs.
file(MAKE_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY}/debian)
file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/debian/shlibs.local "libmpi 40\nlibmpich 12\n")
