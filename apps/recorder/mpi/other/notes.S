// Functions of an MPI whose handles are not known here: each says its number and goes on to the
// library with the arguments as they came, whatever they are. Nothing is known of when it returned.
#ifdef __x86_64__

        .macro NOTE function, number
        .text
        .p2align 4
note_\function:
        endbr64
        push %rdi
        push %rsi
        push %rdx
        push %rcx
        push %r8
        push %r9
        sub $8, %rsp
        mov $\number, %edi
        call headway_note
        add $8, %rsp
        pop %r9
        pop %r8
        pop %rcx
        pop %rdx
        pop %rsi
        pop %rdi
        jmp *headway_real+8*\number(%rip)
        .section .data.rel.ro.headway, "aw"
        .p2align 3
        .quad note_\function
        .endm

        .section .data.rel.ro.headway, "aw"
        .p2align 3
        .globl headway_notes
        .hidden headway_notes
headway_notes:

        .set number, 0
#define CALL(row, form, since, function) NOTE function, %number ; .set number, number + 1 ;
        .altmacro
#include "../forms.def"

#else
#error "the recorder of MPI calls is written for x86-64"
#endif
        .section .note.GNU-stack, "", @progbits
