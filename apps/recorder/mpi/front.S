// What is loaded before every program: each function of the table, under its own name and that of
// the profiling interface (which OpenMPI's Fortran calls), jumps to where its slot says. A slot
// says at first that all slots have to be filled: front.cpp does it when MPI is called at last, and
// knows then which MPI it is. It is the same for every MPI, whatever its handles are, but for the
// names: a program may ask whether its MPI has a function (mpi4py does), and shall not find one here
// that is not there. HEADWAY_SINCE is the last of forms.def that it has: 1 narrow, 2 mpi4, 3 wide.
#ifdef __x86_64__

#define SINCE_narrow 1
#define SINCE_mpi4 2
#define SINCE_wide 3

        .macro TRAMPOLINE function, since
        .text
        .if \since <= HEADWAY_SINCE
        .globl \function, P\function
        .endif
        .type \function, @function
        .type P\function, @function
        .p2align 4
\function:
P\function:
        endbr64
        jmp *slot_\function(%rip)
first_\function:
        call headway_first
        jmp *slot_\function(%rip)
        .section .data.rel, "aw"
        .p2align 3
slot_\function:
        .quad first_\function
        .section .rodata.headway, "a"
name_\function:
        .asciz "\function"
        .section .data.rel.ro.headway, "aw"
        .p2align 3
        .quad name_\function
        .endm

        .section .data.rel, "aw"
        .p2align 3
        .globl headway_slots
        .hidden headway_slots
headway_slots:
        .section .data.rel.ro.headway, "aw"
        .p2align 3
        .globl headway_names
        .hidden headway_names
headway_names:

#define CALL(row, form, since, function) TRAMPOLINE function, SINCE_##since ;
#include "forms.def"

// Keeps the arguments of the call that came first; MPI takes none in vector registers.
        .text
        .type headway_first, @function
headway_first:
        push %rdi
        push %rsi
        push %rdx
        push %rcx
        push %r8
        push %r9
        push %rax
        sub $8, %rsp
        mov %rsp, %rax
        // The stack lies as it would in front of a call: 16 bytes before, two return addresses.
        and $15, %rax
        sub %rax, %rsp
        push %rax
        sub $8, %rsp
        call headway_fill_slots
        add $8, %rsp
        pop %rax
        add %rax, %rsp
        add $8, %rsp
        pop %rax
        pop %r9
        pop %r8
        pop %rcx
        pop %rdx
        pop %rsi
        pop %rdi
        ret
#else
#error "the recorder of MPI calls is written for x86-64"
#endif
        .section .note.GNU-stack, "", @progbits
