import { chdir } from "node:process"
import { lstatSync, mkdirSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { kernelInterfaces, plainDevices, type Placement } from "./ConfinementSpec.ts"
import type { LinuxCalls } from "./LinuxCalls.ts"

const recursive = 0x4000
const bind = 0x1000
const makePrivate = 1 << 18
const mountFlags = { noSuid: 2, noDevices: 4, noExecution: 8 } as const
const attribute = { readOnly: 1, noSuid: 2, noDevices: 4 } as const
const detach = 2
const currentFolder = -100
const applyRecursively = 0x8000

// Mount points of the host's root and the new root while the file system is built.
const host = "/old"
const fresh = "/new"
const staging = "/tmp"

/**
 * Builds a sandbox's file system from its placements, in this process's own namespaces, and makes it the root. Of the host's
 * files, only the placements remain visible.
 */
export const enterFileSystem = (calls: LinuxCalls, placements: ReadonlyArray<Placement>): void => {
  const mount = (source: string, target: string, type: string, flags: number, data = "") =>
    calls.call(`mount ${target}`, "mount", source, target, type, flags, data === "" ? 0 : data)
  const restrict = (target: string, attributes: number, scope: number) => {
    const request = new Uint8Array(new BigUint64Array([BigInt(attributes), 0n, 0n, 0n]).buffer)
    calls.call(`restrict ${target}`, "mount_setattr", currentFolder, target, scope, request, request.length)
  }

  mount("none", "/", "", recursive | makePrivate)
  mount("tmpfs", staging, "tmpfs", mountFlags.noSuid | mountFlags.noDevices, "mode=755,size=1m")
  mkdirSync(`${staging}${host}`)
  mkdirSync(`${staging}${fresh}`)
  mount("tmpfs", `${staging}${fresh}`, "tmpfs", mountFlags.noSuid | mountFlags.noDevices, "mode=755,size=1m")
  calls.call("change the root", "pivot_root", staging, `${staging}${host}`)
  chdir("/")

  const placeBind = (from: string, to: string, attributes: number) => {
    const source = join(host, from)
    const target = join(fresh, to)
    if (statSync(source).isDirectory()) {
      mkdirSync(target, { recursive: true })
    } else {
      mkdirSync(dirname(target), { recursive: true })
      if (lstatSync(target, { throwIfNoEntry: false }) === undefined) writeFileSync(target, "")
    }
    mount(source, target, "", bind | recursive)
    restrict(target, attributes, applyRecursively)
  }

  const placeDevices = (path: string) => {
    mkdirSync(join(fresh, path), { recursive: true })
    for (const name of plainDevices) placeBind(`/dev/${name}`, `${path}/${name}`, attribute.noSuid)
    for (const [target, name] of [
      ["/proc/self/fd", "fd"],
      ["/proc/self/fd/0", "stdin"],
      ["/proc/self/fd/1", "stdout"],
      ["/proc/self/fd/2", "stderr"]
    ] as const) {
      symlinkSync(target, join(fresh, path, name))
    }
  }

  const placeProcesses = (path: string) => {
    const target = join(fresh, path)
    mkdirSync(target, { recursive: true })
    mount("proc", target, "proc", mountFlags.noSuid | mountFlags.noDevices | mountFlags.noExecution)
    for (const name of kernelInterfaces) {
      const part = join(target, name)
      if (lstatSync(part, { throwIfNoEntry: false }) === undefined) continue
      mount(part, part, "", bind | recursive)
      restrict(part, attribute.readOnly, applyRecursively)
    }
  }

  for (const placement of placements) {
    switch (placement.kind) {
      case "bind": {
        // Resolve links as the host would, so that no link leads out of the host's root.
        const from = withoutLinks(placement.from)
        if (from === undefined) {
          if (placement.optional) continue
          throw new Error(`${placement.from} does not exist.`)
        }
        const attributes = attribute.noSuid | attribute.noDevices | (placement.writable ? 0 : attribute.readOnly)
        placeBind(from, placement.to, attributes)
        break
      }
      case "link":
        symlinkSync(placement.target, join(fresh, placement.path))
        break
      case "memory": {
        const target = join(fresh, placement.path)
        mkdirSync(target, { recursive: true })
        const options = `mode=${placement.mode},size=${placement.bytes}`
        mount("tmpfs", target, "tmpfs", mountFlags.noSuid | mountFlags.noDevices, options)
        break
      }
      case "processes":
        placeProcesses(placement.path)
        break
      case "devices":
        placeDevices(placement.path)
        break
    }
  }
  restrict(fresh, attribute.readOnly, 0)
  chdir(fresh)
  calls.call("change the root", "pivot_root", ".", ".")
  calls.call("leave the host", "umount2", ".", detach)
}

const mostLinks = 40

/** Resolves all links in a path as the host would. Returns `undefined` if the path does not exist. */
const withoutLinks = (path: string): string | undefined => {
  let pending = path.split("/").filter((part) => part !== "")
  let resolved: ReadonlyArray<string> = []
  let links = 0
  while (pending.length > 0) {
    const [part = "", ...rest] = pending
    pending = rest
    if (part === ".") continue
    if (part === "..") {
      resolved = resolved.slice(0, -1)
      continue
    }
    const candidate = [...resolved, part]
    const entry = lstatSync(join(host, ...candidate), { throwIfNoEntry: false })
    if (entry === undefined) return undefined
    if (!entry.isSymbolicLink()) {
      resolved = candidate
      continue
    }
    if (++links > mostLinks) return undefined
    const target = readlinkSync(join(host, ...candidate))
    pending = [...target.split("/").filter((name) => name !== ""), ...pending]
    if (target.startsWith("/")) resolved = []
  }
  return `/${resolved.join("/")}`
}

/** Brings up the loopback interface of the process's own network. */
export const raiseLoopback = (calls: LinuxCalls): void => {
  const socket = calls.call("open a socket", "socket", 2, 2, 0)
  const request = Buffer.alloc(40)
  request.write("lo")
  // IFF_UP | IFF_LOOPBACK | IFF_RUNNING
  request.writeInt16LE(0x49, 16)
  calls.call("switch the loopback on", "ioctl", socket, 0x8914, request)
  calls.call("close", "close", socket)
}
