// Runs inside a sandbox, as a module's code would, and attempts forbidden actions. Prints one JSON line with the actions that
// succeeded.
import { dlopen, ptr } from "bun:ffi"
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { connect } from "node:net"

interface Target {
  readonly serverPid: number
  readonly masterKey: string
  readonly database: string
  readonly otherRun: string
  readonly operatorSecret: string
  readonly operatorSocket: string
  readonly port: number
  readonly abstractName: string
  /** Device number of the host's shared memory folder. */
  readonly sharedDevice: number
}

const {
  abstractName,
  database,
  masterKey,
  operatorSecret,
  operatorSocket,
  otherRun,
  port,
  serverPid,
  sharedDevice
}: Target = JSON.parse(readFileSync("target.json", "utf8"))
const { symbols } = dlopen("libc.so.6", {
  syscall: { args: ["i64", "i64", "i64", "i64", "i64", "i64", "i64"], returns: "i64" }
})
const arm = process.arch === "arm64"
const number = (x64: number, arm64: number) => (arm ? arm64 : x64)
const call = (code: number, ...args: ReadonlyArray<number>) => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = args
  return Number(symbols.syscall(code, a, b, c, d, e, f))
}

const succeeds = (attempt: () => unknown) => {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}
const works = (result: number) => {
  if (result < 0) throw new Error("denied")
}

const address = () => {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt16LE(2, 0)
  bytes.writeUInt16BE(port, 2)
  bytes.set([127, 0, 0, 1], 4)
  return bytes
}

/** Sends data together with the connection request, in one call that some connection filters miss. */
const fastOpen = () => {
  const socket = call(number(41, 198), 2, 1, 0)
  works(socket)
  const data = Buffer.from("fast open")
  const to = address()
  works(call(number(44, 206), socket, ptr(data), data.length, 0x2000_0000, ptr(to), to.length))
}

/** Paths of the server's open files, read through its descriptors. */
const descriptors = () => readdirSync(`/proc/${serverPid}/fd`).map((fd) => readlinkSync(`/proc/${serverPid}/fd/${fd}`))

const command = (path: string, secret: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(path)
    const request = {
      _tag: "Request",
      id: "1",
      tag: "SetupLink",
      payload: null,
      headers: [["x-svc-operator-secret", secret]]
    }
    socket.on("connect", () => socket.write(`${JSON.stringify(request)}\n`))
    socket.on("data", (bytes) => {
      socket.destroy()
      resolve(bytes.toString().includes("Success"))
    })
    socket.on("error", () => resolve(false))
    socket.on("close", () => resolve(false))
  })

const connects = () =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
  })

/** Returns true if this process can connect to an abstract socket on which another process of this machine listens. */
const connectsByName = () =>
  new Promise<boolean>((resolve) => {
    const socket = connect(`\0${abstractName}`)
    socket.on("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
  })

const processes = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
const own = new Set(["self", String(process.pid)])
/** Process environments that contain the service's secret. */
const foreign = (file: string, mark: string) => {
  const found = processes().some((pid) => {
    try {
      return !own.has(pid) && readFileSync(`/proc/${pid}/${file}`, "latin1").includes(mark)
    } catch {
      return false
    }
  })
  if (!found) throw new Error("none")
}
const text = (value: string) => ptr(Buffer.from(`${value}\0`))
const setUser = (id: number) => works(call(number(105, 146), id))

const limits = new BigUint64Array([1n, 1n])
const attempts = {
  "read the master key": () => readFileSync(masterKey),
  "read the master key through /proc": () => readFileSync(`/proc/${serverPid}/root${masterKey}`),
  "write the master key": () => appendFileSync(masterKey, "x"),
  "truncate the database": () => truncateSync(database, 0),
  "replace the database": () => renameSync(database, `${database}.old`),
  "read another Run": () => readFileSync(`${otherRun}/inputs`),
  "list another Run": () => readdirSync(otherRun),
  "write into another Run": () => writeFileSync(`${otherRun}/planted`, "x"),
  "link another Run's file into its own": () => {
    linkSync(`${otherRun}/inputs`, "linked")
    readFileSync("linked")
  },
  "read another Run through a link": () => {
    symlinkSync(`${otherRun}/inputs`, "soft")
    readFileSync("soft")
  },
  "write to another Run's pipe": () => {
    if (!statSync(`${otherRun}/pipe`).isFIFO()) throw new Error("none")
    // Opens the pipe for reading and writing, because opening it only for writing fails without a reader.
    works(call(number(257, 56), -100, text(`${otherRun}/pipe`), 2 | 0o4000, 0))
  },
  "read the environment of any process": () => foreign("environ", "SVC_SECRET="),
  "see the command line of another process": () => foreign("cmdline", "LevelProcess"),
  "enter the root of another process": () => {
    const found = processes().some((pid) => succeeds(() => readFileSync(`/proc/${pid}/root${masterKey}`)))
    if (!found) throw new Error("none")
  },
  "enter the current folder of the server": () => readdirSync(`/proc/${serverPid}/cwd/`),
  "become another user": () => {
    const id = process.getuid?.() ?? 0
    if (![0, 1, 65_534, 61_002].some((other) => other !== id && succeeds(() => setUser(other))))
      throw new Error("denied")
  },
  "become root by a program": () => {
    const { stdout } = Bun.spawnSync(["su", "-c", "id -u"], { stdin: "ignore", stderr: "ignore" })
    if (process.getuid?.() === 0 || stdout.toString().trim() !== "0") throw new Error("denied")
  },
  "read the session's keys": () => works(call(number(250, 219), 0, -3, 0)),
  "add a key": () => works(call(number(248, 217), text("user"), text("planted"), text("x"), 1, -4)),
  "take memory of another process": () => {
    const page = Buffer.alloc(16)
    const part = new BigUint64Array([BigInt(ptr(page)), 16n])
    const there = new BigUint64Array([4096n, 16n])
    const local = ptr(new Uint8Array(part.buffer))
    works(call(number(310, 270), serverPid, local, 1, ptr(new Uint8Array(there.buffer)), 1))
  },
  "load a program into the kernel": () => works(call(number(321, 280), 5, ptr(Buffer.alloc(128)), 128)),
  "join the server's namespaces": () => {
    const fd = call(number(257, 56), -100, text(`/proc/${serverPid}/ns/mnt`), 0, 0)
    works(fd)
    works(call(number(308, 268), fd, 0))
  },
  "make a device": () => works(call(number(259, 33), -100, text(`${process.cwd()}/disk`), 0o60600, 0x800)),
  "open a file by its number": () => {
    const handle = Buffer.alloc(136)
    handle.writeUInt32LE(128, 0)
    const mount = Buffer.alloc(4)
    works(call(number(303, 264), -100, text("/"), ptr(handle), ptr(mount), 0))
    works(call(number(304, 265), -100, ptr(handle), 0))
  },
  "watch the whole file system": () => works(call(number(300, 262), 0, 0)),
  "read the kernel's log": () => works(call(number(103, 116), 3, ptr(Buffer.alloc(4096)), 4096)),
  "share memory by a name that others see": () => {
    const { dev } = statSync("/dev/shm")
    if (dev !== sharedDevice) throw new Error("private")
    writeFileSync("/dev/shm/planted", "x")
  },
  "read the secret of the operator's socket": () => readFileSync(operatorSecret),
  "read the server's environment": () => readFileSync(`/proc/${serverPid}/environ`),
  "read the server's memory map": () => readFileSync(`/proc/${serverPid}/maps`),
  "open the server's memory": () => readFileSync(`/proc/${serverPid}/mem`),
  "see the server's files": descriptors,
  "trace the server": () => works(call(number(101, 117), 0x4206, serverPid, 0, 0)),
  "take a descriptor of the server": () => {
    const pidfd = call(434, serverPid, 0)
    works(pidfd)
    works(call(438, pidfd, 0, 0))
  },
  "signal the server": () => process.kill(serverPid, 0),
  "lower the server's limits": () => works(call(number(302, 261), serverPid, 4, ptr(new Uint8Array(limits.buffer)), 0)),
  "change the server's priority": () => works(call(number(141, 140), 0, serverPid, 5)),
  "make a user namespace": () => works(call(number(272, 97), 0x1000_0000)),
  mount: () =>
    works(
      call(
        number(165, 40),
        ptr(Buffer.from("x\0")),
        ptr(Buffer.from(`${process.cwd()}\0`)),
        ptr(Buffer.from("tmpfs\0")),
        0,
        0
      )
    ),
  "write the kernel's settings": () => appendFileSync("/proc/sys/kernel/core_pattern", ""),
  "write to the system": () => writeFileSync("/usr/planted", "x"),
  "leave something in the data folder": () => writeFileSync(`${masterKey}.planted`, "x"),
  "keep capabilities": () => {
    if (!/^Cap(?:Inh|Prm|Eff|Amb):\s*0*[1-9a-f]/m.test(readFileSync("/proc/self/status", "utf8")))
      throw new Error("none")
  },
  "open a packet socket": () => works(call(number(41, 198), 17, 3, 0)),
  "use io_uring": () => works(call(425, 4, ptr(Buffer.alloc(128)))),
  "open a connection by its first data": fastOpen,
  "hold memory in a file without a name": () => works(call(number(319, 279), ptr(Buffer.from("x\0")), 0)),
  "hold memory in a segment that outlives it": () => works(call(number(29, 194), 0, 4096, 0o1600)),
  "hold memory in a queue that outlives it": () => works(call(number(68, 186), 0, 0o1600)),
  "write outside of every place with a size": () => {
    const places = ["/", "/dev", "/etc", "/home", "/run", "/srv", "/var", "/var/tmp", "/mnt", "/proc", "/dev/pts"]
    if (!places.some((place) => succeeds(() => writeFileSync(`${place}/planted`, "x")))) throw new Error("denied")
  }
} as const

const could = Object.entries(attempts).flatMap(([name, attempt]) => (succeeds(attempt) ? [name] : []))
// Actions that no Landlock right covers. They are listed separately, because one level cannot prevent them.
const modes = succeeds(() => chmodSync(masterKey, 0o644)) ? ["change the mode of the master key"] : []
const times = succeeds(() => utimesSync(masterKey, 1, 1)) ? ["change the times of the master key"] : []
const network = (await connects()) ? ["connect to the host's loopback"] : []
const operator = existsSync(operatorSocket) && (await command(operatorSocket, "")) ? ["command the server"] : []

const sockets = (await connectsByName()) ? ["connect to a socket without a path"] : []

process.stdout.write(`${JSON.stringify([...could, ...sockets, ...modes, ...times, ...network, ...operator])}\n`)
