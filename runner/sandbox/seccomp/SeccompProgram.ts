import { Option } from "effect"

type Architecture = "x64" | "arm64"

/** Kernel's number for the architecture (`AUDIT_ARCH_*`), as passed to a filter. */
const auditArchitecture = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const satisfies Record<Architecture, number>

/** The numbers of a system call on x86_64 and, if the call exists on that architecture, on aarch64. */
type CallNumbers = readonly [x64: number, arm64: number | undefined]

/**
 * Calls to deny. No module needs them, and they affect more than a sandbox: other processes, mounts and namespaces, the kernel's
 * own state, keys, and kernel interfaces with a history of escapes.
 */
const deniedCalls = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mbind: [237, 235],
  migrate_pages: [256, 238],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  name_to_handle_at: [303, 264],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  perf_event_open: [298, 241],
  personality: [135, 92],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_madvise: [440, 440],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  set_mempolicy: [238, 237],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  vhangup: [153, 58]
} as const satisfies Record<string, CallNumbers>

/**
 * Calls that allocate memory outside all processes and outside all file systems with a size limit. Some of this memory
 * remains allocated after the Run has ended. The filter reports them as not implemented, so that programs use files instead.
 */
const unavailableCalls = {
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  msgget: [68, 186],
  shmget: [29, 194]
} as const satisfies Record<string, CallNumbers>

/** System calls that are denied only with certain arguments. */
const checkedCalls = {
  clone: [56, 220],
  clone3: [435, 435],
  ioctl: [16, 29],
  ioprio_set: [251, 30],
  prlimit64: [302, 261],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sendmmsg: [307, 269],
  sendmsg: [46, 211],
  sendto: [44, 206],
  setpriority: [141, 140],
  socket: [41, 198],
  socketpair: [53, 199]
} as const satisfies Record<string, CallNumbers>

/** A classic BPF instruction: the operation, the jump offsets for true and for false, and the operand. */
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

// Offsets in `struct seccomp_data`. The filter reads only the low half of an argument, because every checked argument has 32
// bits.
const numberAt = 0
const architectureAt = 4
const argumentAt = (index: number) => 16 + 8 * index

/** On x86_64, call numbers from this value upwards belong to the x32 interface, which has a second number for every call. */
const x32From = 0x4000_0000

const namespaceFlags = 0x7e02_0000
const fastOpen = 0x2000_0000
/** `ioctl` request that puts characters into the terminal's input, as if a person had typed them. */
const pushInput = 0x5412
const multipathTcp = 262

const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const

export interface SeccompRules {
  /** True if programs may create Internet sockets. */
  readonly network: boolean
  /**
   * True if the sandbox shares its process ids with the server. In that case, the filter must deny changes to the limits,
   * priority and affinity of other processes. In a process namespace there are no other processes to protect, so programs
   * may change their own threads.
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
  // Calls whose argument is a process id; 0 is the caller.
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
    // Report `clone3` as not implemented, because its flags are in memory, where the filter cannot read them. The C library falls
    // back to `clone`.
    ...refusedOutright(at("clone3"), notImplemented),
    ...judged(at("clone"), 0, denyIfAnyBit(namespaceFlags)),
    ...judged(at("ioctl"), 1, denyIf(pushInput)),
    // Do not let a program open a connection by sending its first data, because Landlock does not control this.
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

/** Builds a seccomp filter in the form that the kernel and bubblewrap expect: an array of `struct sock_filter`. */
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

/** Builds the filter for this machine. Returns `none` if the machine's system call numbers are unknown. */
export const ownFilter = (rules: SeccompRules): Option.Option<Uint8Array<ArrayBuffer>> =>
  process.arch === "x64" || process.arch === "arm64" ? Option.some(seccompProgram(process.arch, rules)) : Option.none()
