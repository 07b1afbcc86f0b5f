import { fstatSync } from "node:fs"
import { CallFailed, type LinuxCalls } from "./LinuxCalls.ts"

const right = {
  execute: 0x1,
  writeFile: 0x2,
  readFile: 0x4,
  readFolder: 0x8,
  makeCharacterDevice: 0x40,
  makeBlockDevice: 0x800,
  refer: 0x2000,
  truncate: 0x4000,
  deviceControl: 0x8000,
  resolveSocket: 0x1_0000
} as const

const firstRights = 0x1fff
const everyPort = 0x3
const everyScope = 0x3
const pathRule = 1
/**
 * The access rights, by version of the Landlock interface. Each version adds rights, and the kernel refuses rights of later
 * versions.
 */
const rightsSince: ReadonlyArray<readonly [version: number, rights: number]> = [
  [2, right.refer],
  [3, right.truncate],
  [5, right.deviceControl],
  [9, right.resolveSocket]
]

const reading = right.execute | right.readFile | right.readFolder
/** The only rights that a rule for a file may contain. */
const ofFiles = right.execute | right.writeFile | right.readFile | right.truncate | right.deviceControl

const openPath = 0o10000000 | 0o2000000
const currentFolder = -100

/** Returns the version of the kernel's Landlock interface, or 0 if the kernel has no Landlock. */
export const landlockVersion = (calls: LinuxCalls): number =>
  Math.max(0, calls.attempt("landlock_create_ruleset", 0, 0, 1))

export interface LandlockRequest {
  readonly readOnly: ReadonlyArray<string>
  readonly writable: ReadonlyArray<string>
  readonly devices: ReadonlyArray<string>
  /** If false, all TCP connections are denied. Other protocols are left to the system call filter. */
  readonly network: boolean
}

/**
 * Prepares a domain in which only these paths can be used. Skips missing paths. Returns a function that enters the domain;
 * entering it requires `no_new_privs`. Drop capabilities first, because the kernel lets processes with capabilities bypass
 * the domain.
 */
export const prepareDomain = (calls: LinuxCalls, request: LandlockRequest): (() => void) => {
  const version = landlockVersion(calls)
  if (version < 2) throw new CallFailed("Landlock", 38)
  const handled = rightsSince.reduce(
    (rights, [since, more]) => (version >= since ? rights | more : rights),
    firstRights
  )
  const attributes = new BigUint64Array([BigInt(handled), BigInt(request.network ? 0 : everyPort), BigInt(everyScope)])
  const size = version >= 6 ? 24 : version >= 4 ? 16 : 8
  const ruleset = calls.call(
    "make the Landlock rules",
    "landlock_create_ruleset",
    new Uint8Array(attributes.buffer),
    size,
    0
  )

  const permit = (path: string, rights: number) => {
    const file = calls.attempt("openat", currentFolder, path, openPath, 0)
    if (file < 0) return
    const allowed = fstatSync(file).isDirectory() ? rights : rights & ofFiles
    const rule = Buffer.alloc(12)
    rule.writeBigUInt64LE(BigInt(allowed & handled), 0)
    rule.writeInt32LE(file, 8)
    calls.call(`permit ${path}`, "landlock_add_rule", ruleset, pathRule, rule, 0)
    calls.call("close", "close", file)
  }
  const writing = handled & ~(right.makeCharacterDevice | right.makeBlockDevice | right.deviceControl)
  for (const path of request.readOnly) permit(path, reading)
  for (const path of request.writable) permit(path, writing)
  for (const path of request.devices)
    permit(path, right.readFile | right.writeFile | right.truncate | right.deviceControl)

  return () => {
    calls.call("enter the Landlock domain", "landlock_restrict_self", ruleset, 0)
    calls.call("close", "close", ruleset)
  }
}
