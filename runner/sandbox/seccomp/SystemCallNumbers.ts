export type Architecture = "x64" | "arm64"

/** The kernel's number for the architecture in the data that a filter receives (`AUDIT_ARCH_*`). */
export const auditArchitecture = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const satisfies Record<
  Architecture,
  number
>

/** Numbers of one call: on x86_64, and on aarch64 if the call exists on it. */
export type CallNumbers = readonly [x64: number, arm64: number | undefined]

/**
 * Calls that no module needs and that reach beyond a sandbox: other processes, mounts and namespaces, the kernel's own state,
 * keys, and kernel interfaces with a history of escapes.
 */
export const deniedCalls = {
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
 * Calls that allocate memory outside of every process and every file system with a size limit, in some cases for longer than the
 * Run. The filter reports them as not implemented, so programs use files instead.
 */
export const unavailableCalls = {
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  msgget: [68, 186],
  shmget: [29, 194]
} as const satisfies Record<string, CallNumbers>

/** Calls with a checked argument. */
export const checkedCalls = {
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
