import { constants } from "node:fs"
import type { LinuxCalls } from "./LinuxCalls.ts"

const option = {
  parentDeathSignal: 1,
  dropBounding: 24,
  secureBits: 28,
  noNewPrivileges: 38,
  ambient: 47,
  becomeSubreaper: 36
} as const

const kill = 9
const clearAmbient = 4
/**
 * Locked `securebits` flags that prevent user 0 from regaining capabilities, and capabilities from surviving a change of user.
 */
const noRootNoKeep = 0x2f
const capabilityVersion = 0x2008_0522
/** A number higher than that of the last capability in any kernel. Errors for capabilities that do not exist are ignored. */
const capabilities = 64

/** Drops the bounding set. Call it before changing the user, because it requires a capability. */
export const dropBoundingSet = (calls: LinuxCalls): void => {
  for (let capability = 0; capability < capabilities; capability++) {
    calls.attempt("prctl", option.dropBounding, capability, 0, 0, 0)
  }
}

export const becomeUser = (calls: LinuxCalls, userId: number, groups: ReadonlyArray<number>): void => {
  const list = groups.length === 0 ? 0 : new Uint8Array(new Uint32Array(groups).buffer)
  calls.call("set the groups", "setgroups", groups.length, list)
  calls.call("change the group", "setresgid", userId, userId, userId)
  calls.call("change the user", "setresuid", userId, userId, userId)
}

/** Drops every capability permanently, and prevents the process from regaining one by executing a program. */
export const dropCapabilities = (calls: LinuxCalls): void => {
  calls.attempt("prctl", option.ambient, clearAmbient, 0, 0, 0)
  calls.attempt("prctl", option.secureBits, noRootNoKeep, 0, 0, 0)
  const header = new Uint8Array(new Uint32Array([capabilityVersion, 0]).buffer)
  calls.call("drop the capabilities", "capset", header, new Uint8Array(24))
  calls.call("refuse new privileges", "prctl", option.noNewPrivileges, 1, 0, 0, 0)
}

/** Kills this process when its parent exits. Call it after changing the user, which resets this setting. */
export const dieWithParent = (calls: LinuxCalls): void => {
  calls.call("die with the parent", "prctl", option.parentDeathSignal, kill, 0, 0, 0)
}

/** Makes orphaned descendants of this process its children. */
export const becomeSubreaper = (calls: LinuxCalls): void => {
  calls.call("adopt orphans", "prctl", option.becomeSubreaper, 1, 0, 0, 0)
}

export const limitResources = (
  calls: LinuxCalls,
  limits: ReadonlyArray<readonly [resource: number, value: number]>
): void => {
  for (const [resource, value] of limits) {
    const present = new BigUint64Array(2)
    calls.call(`read resource limit ${resource}`, "prlimit64", 0, resource, 0, new Uint8Array(present.buffer))
    const [, hard = 0n] = present
    const limit = BigInt(value) < hard ? BigInt(value) : hard
    const both = new Uint8Array(new BigUint64Array([limit, limit]).buffer)
    calls.call(`limit resource ${resource}`, "prlimit64", 0, resource, both, 0)
  }
}

const status = { read: 3, write: 4 } as const

/**
 * Makes the output blocking again, because the runtime makes it non-blocking. A program that inherited non-blocking output
 * would lose data whenever it writes faster than the server reads.
 */
export const keepOutputBlocking = (calls: LinuxCalls): void => {
  for (const fd of [1, 2]) {
    const flags = calls.call(`read the flags of descriptor ${fd}`, "fcntl", fd, status.read, 0)
    calls.call(`make descriptor ${fd} blocking`, "fcntl", fd, status.write, flags & ~constants.O_NONBLOCK)
  }
}

/** Installs the system call filter. Call it last, because the filter forbids the other steps. */
export const filterCalls = (calls: LinuxCalls, program: Uint8Array): void => {
  const view = new DataView(new ArrayBuffer(16))
  view.setUint16(0, program.length / 8, true)
  view.setBigUint64(8, BigInt(calls.address(program)), true)
  calls.call("filter the system calls", "seccomp", 1, 0, new Uint8Array(view.buffer))
}
