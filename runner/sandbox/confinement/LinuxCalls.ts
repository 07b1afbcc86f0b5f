import { dlopen, type Pointer, ptr, read } from "bun:ffi"

// This module must not import `effect`: each sandboxed program starts as a separate process, which must load as little as
// possible.

/** A system call failed with `errno`. */
export class CallFailed extends Error {
  readonly errno: number
  constructor(what: string, errno: number) {
    super(`${what}: errno ${errno}`)
    this.errno = errno
  }
}

const symbols = {
  syscall: { args: ["i64", "i64", "i64", "i64", "i64", "i64", "i64"], returns: "i64" },
  execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
  signal: { args: ["i32", "i64"], returns: "i64" },
  waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
  __errno_location: { args: [], returns: "ptr" }
} as const

const libraries = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"]

const openLibrary = () => {
  const failures: Array<string> = []
  for (const name of libraries) {
    try {
      return dlopen(name, symbols).symbols
    } catch (cause) {
      failures.push(String(cause))
    }
  }
  throw new Error(`No C library could be loaded: ${failures.join("; ")}`)
}

const everywhere = {
  landlock_create_ruleset: 444,
  landlock_add_rule: 445,
  landlock_restrict_self: 446,
  mount_setattr: 442
} as const

/** Syscall numbers of older calls; these numbers differ between architectures. */
const numbers = {
  x64: {
    ...everywhere,
    capset: 126,
    chdir: 80,
    close: 3,
    fcntl: 72,
    flock: 73,
    ioctl: 16,
    mount: 165,
    openat: 257,
    pivot_root: 155,
    prctl: 157,
    prlimit64: 302,
    seccomp: 317,
    setgroups: 116,
    setresgid: 119,
    setresuid: 117,
    socket: 41,
    umount2: 166
  },
  arm64: {
    ...everywhere,
    capset: 91,
    chdir: 49,
    close: 57,
    fcntl: 25,
    flock: 32,
    ioctl: 29,
    mount: 40,
    openat: 56,
    pivot_root: 41,
    prctl: 167,
    prlimit64: 261,
    seccomp: 277,
    setgroups: 159,
    setresgid: 149,
    setresuid: 147,
    socket: 198,
    umount2: 39
  }
} as const

type CallName = keyof (typeof numbers)["x64"]
type Argument = number | bigint | Uint8Array | string

export interface LinuxCalls {
  /** Makes a call and returns its result. Throws `CallFailed` for a negative result. */
  readonly call: (what: string, name: CallName, ...args: ReadonlyArray<Argument>) => number
  /** Like `call`, but for calls that often fail: returns a negative result instead of throwing. */
  readonly attempt: (name: CallName, ...args: ReadonlyArray<Argument>) => number
  /** Returns the address of the bytes. It remains valid as long as this process runs the same program. */
  readonly address: (bytes: Uint8Array) => number
  /** Restores a signal's default action. */
  readonly resetSignal: (signal: number) => void
  /** Reaps a child. Returns true if a child had exited. */
  readonly reap: (pid: number) => boolean
  /** Executes another program. Searches PATH if the program is a plain name. Never returns; throws if it fails. */
  readonly execute: (argv: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) => never
}

/**
 * Makes system calls on the calling thread. Keeps every buffer alive, because the kernel may read a buffer until the program
 * is replaced.
 */
export const linuxCalls = (): LinuxCalls => {
  const table = process.arch === "arm64" ? numbers.arm64 : numbers.x64
  const library = openLibrary()
  const kept: Array<Uint8Array> = []

  const keep = (bytes: Uint8Array): Pointer => {
    kept.push(bytes)
    return ptr(bytes)
  }
  const keepText = (text: string): Pointer => {
    if (text.includes("\0")) throw new Error("A path, argument or variable holds a NUL.")
    return keep(Buffer.from(`${text}\0`))
  }
  const word = (argument: Argument): number | bigint =>
    typeof argument === "string" ? keepText(argument) : argument instanceof Uint8Array ? keep(argument) : argument

  const attempt: LinuxCalls["attempt"] = (name, ...args) => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = args.map(word)
    return Number(library.syscall(table[name], a, b, c, d, e, f))
  }

  const errno = () => {
    const at = library.__errno_location()
    return at === null ? 0 : read.i32(at, 0)
  }

  const vector = (texts: ReadonlyArray<string>): Pointer => {
    const addresses = new BigUint64Array(texts.length + 1)
    texts.forEach((text, index) => {
      addresses[index] = BigInt(keepText(text))
    })
    return keep(new Uint8Array(addresses.buffer))
  }

  return {
    attempt,
    address: keep,
    call: (what, name, ...args) => {
      const result = attempt(name, ...args)
      if (result < 0) throw new CallFailed(what, errno())
      return result
    },
    resetSignal: (signal) => void library.signal(signal, 0n),
    reap: (pid) => library.waitpid(pid, null, 1) === pid,
    execute: (argv, environment) => {
      const [program = ""] = argv
      const folders = program.includes("/")
        ? [""]
        : (environment["PATH"] ?? "").split(":").map((folder) => `${folder}/`)
      const texts = vector(argv)
      const variables = vector(Object.entries(environment).map(([name, value]) => `${name}=${value}`))
      for (const folder of folders) library.execve(keepText(`${folder}${program}`), texts, variables)
      throw new CallFailed(program, errno())
    }
  }
}
