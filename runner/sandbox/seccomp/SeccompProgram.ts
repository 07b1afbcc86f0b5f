import { Option } from "effect"
import {
  auditArchitecture,
  type Architecture,
  type CallNumbers,
  checkedCalls,
  deniedCalls,
  unavailableCalls
} from "./SystemCallNumbers.ts"

/** One classic BPF instruction: operation, jump offsets if true and if false, operand. */
type Instruction = readonly [operation: number, whenTrue: number, whenFalse: number, operand: number]

const load = 0x20
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const jumpIfAnyBit = 0x45
const answer = 0x06

const allow = 0x7fff_0000
const kill = 0x8000_0000
const failWith = (errno: number) => 0x0005_0000 | errno
const notPermitted = failWith(1)
const notImplemented = failWith(38)

// Offsets in `struct seccomp_data`; the filter reads only the low half of an argument, because every checked argument is 32 bits
// wide.
const numberAt = 0
const architectureAt = 4
const argumentAt = (index: number) => 16 + 8 * index

/** On x86_64, numbers from this value on belong to the x32 interface, which gives every call a second number. */
const x32From = 0x4000_0000

const namespaceFlags = 0x7e02_0000
const fastOpen = 0x2000_0000
/** Injects characters into the terminal's input, as if a person had typed them. */
const pushInput = 0x5412
const multipathTcp = 262

const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const

export interface SeccompRules {
  /** True if programs may create Internet sockets. */
  readonly network: boolean
  /**
   * True if the sandbox shares its process ids with the service. The filter must then deny changes of the limits, priority and
   * affinity of other processes; in a process namespace no other processes exist, and programs may change the settings of their
   * own threads.
   */
  readonly sharedProcessIds: boolean
}

/** Loads one argument, checks it, and restores the call's number for the next checks. */
const judged = (call: number, index: number, tests: ReadonlyArray<Instruction>): ReadonlyArray<Instruction> => [
  [jumpIfEqual, 0, tests.length + 2, call],
  [load, 0, 0, argumentAt(index)],
  ...tests,
  [load, 0, 0, numberAt]
]

const denyIfAnyBit = (bits: number): ReadonlyArray<Instruction> => [
  [jumpIfAnyBit, 0, 1, bits],
  [answer, 0, 0, notPermitted]
]

const denyIf = (value: number): ReadonlyArray<Instruction> => [
  [jumpIfEqual, 0, 1, value],
  [answer, 0, 0, notPermitted]
]

const denyUnless = (accepted: ReadonlyArray<number>): ReadonlyArray<Instruction> => [
  ...accepted.map((value, index): Instruction => [jumpIfEqual, accepted.length - index, 0, value]),
  [answer, 0, 0, notPermitted]
]

const refusedOutright = (call: number, code: number): ReadonlyArray<Instruction> => [
  [jumpIfEqual, 0, 1, call],
  [answer, 0, 0, code]
]

const preamble = (architecture: Architecture): ReadonlyArray<Instruction> => [
  [load, 0, 0, architectureAt],
  [jumpIfEqual, 1, 0, auditArchitecture[architecture]],
  [answer, 0, 0, kill],
  [load, 0, 0, numberAt],
  ...(architecture === "x64" ? [[jumpIfAtLeast, 0, 1, x32From] as const, [answer, 0, 0, kill] as const] : [])
]

const instructions = (architecture: Architecture, rules: SeccompRules): ReadonlyArray<Instruction> => {
  const index = architecture === "x64" ? 0 : 1
  const numbered = (calls: Record<string, CallNumbers>) => Object.values(calls).flatMap((pair) => pair[index] ?? [])
  const at = (name: keyof typeof checkedCalls) => checkedCalls[name][index]
  const socketFamilies = [families.unix, families.netlink, ...(rules.network ? [families.inet, families.inet6] : [])]
  // Their argument is the process id; 0 means the caller.
  const onProcess = [
    ["prlimit64", 0],
    ["setpriority", 1],
    ["sched_setaffinity", 0],
    ["sched_setattr", 0],
    ["sched_setparam", 0],
    ["sched_setscheduler", 0],
    ["ioprio_set", 1]
  ] as const
  return [
    ...preamble(architecture),
    // The C library falls back to `clone`, whose flags the filter can read; the flags of `clone3` are in memory.
    ...refusedOutright(at("clone3"), notImplemented),
    ...judged(at("clone"), 0, denyIfAnyBit(namespaceFlags)),
    ...judged(at("ioctl"), 1, denyIf(pushInput)),
    // Landlock does not control a connection that is opened by sending its first data.
    ...judged(at("sendto"), 3, denyIfAnyBit(fastOpen)),
    ...judged(at("sendmsg"), 2, denyIfAnyBit(fastOpen)),
    ...judged(at("sendmmsg"), 3, denyIfAnyBit(fastOpen)),
    ...judged(at("socket"), 0, denyUnless(socketFamilies)),
    ...judged(at("socket"), 2, denyIf(multipathTcp)),
    ...judged(at("socketpair"), 0, denyUnless([families.unix])),
    ...(rules.sharedProcessIds
      ? onProcess.flatMap(([name, argument]) => judged(at(name), argument, denyUnless([0])))
      : []),
    ...numbered(unavailableCalls).flatMap((call) => refusedOutright(call, notImplemented)),
    ...numbered(deniedCalls).flatMap((call) => refusedOutright(call, notPermitted)),
    [answer, 0, 0, allow]
  ]
}

/** A seccomp filter in the form of the kernel and bubblewrap: an array of `struct sock_filter`. */
export const seccompProgram = (architecture: Architecture, rules: SeccompRules): Uint8Array<ArrayBuffer> => {
  const program = instructions(architecture, rules)
  const bytes = new Uint8Array(program.length * 8)
  const view = new DataView(bytes.buffer)
  program.forEach(([operation, whenTrue, whenFalse, operand], line) => {
    view.setUint16(line * 8, operation, true)
    view.setUint8(line * 8 + 2, whenTrue)
    view.setUint8(line * 8 + 3, whenFalse)
    view.setUint32(line * 8 + 4, operand >>> 0, true)
  })
  return bytes
}

/** The filter for this machine; `none` if its system call numbers are unknown. */
export const ownFilter = (rules: SeccompRules): Option.Option<Uint8Array<ArrayBuffer>> =>
  process.arch === "x64" || process.arch === "arm64" ? Option.some(seccompProgram(process.arch, rules)) : Option.none()
