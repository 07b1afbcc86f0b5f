/**
 * Instructions for the process that becomes a sandboxed program. They are sent as JSON through a pipe, because they include
 * the environment, which contains secrets, and command-line arguments are world-readable. Both ends come from the same
 * build, so the reader only checks that the JSON is complete.
 */
export interface ConfinementSpec {
  /** Path of the program, and its arguments. */
  readonly argv: ReadonlyArray<string>
  /** Working folder as the program sees it. */
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** Resource limits, keyed by the kernel's numbers (`RLIMIT_*`). */
  readonly limits: ReadonlyArray<readonly [resource: number, value: number]>
  readonly confinement: Confinement
}

export type Confinement =
  | { readonly kind: "none" }
  | {
      readonly kind: "landlock"
      /** The user and group that the process becomes; undefined to keep the current user and group. */
      readonly userId: number | undefined
      /** Supplementary groups. Set only together with a user. */
      readonly groups: ReadonlyArray<number>
      readonly readOnly: ReadonlyArray<string>
      readonly writable: ReadonlyArray<string>
      readonly devices: ReadonlyArray<string>
      readonly network: boolean
      readonly seccomp: string
    }
  | {
      readonly kind: "namespaces"
      readonly placements: ReadonlyArray<Placement>
      /** True if the process must bring up the loopback interface of its own network. */
      readonly ownNetwork: boolean
      readonly seccomp: string
    }

/** One entry of a sandbox's file system, in mount order. */
export type Placement =
  | {
      readonly kind: "bind"
      readonly from: string
      readonly to: string
      readonly writable: boolean
      /** True to skip the entry if it does not exist on the host. */
      readonly optional: boolean
    }
  | { readonly kind: "link"; readonly target: string; readonly path: string }
  | { readonly kind: "memory"; readonly path: string; readonly bytes: number; readonly mode: "0755" | "1777" }
  | { readonly kind: "processes"; readonly path: string }
  | { readonly kind: "devices"; readonly path: string }

/** File descriptors of the process that becomes the program. */
export const confinementFds = {
  /** The specification. */
  spec: 3,
  /** At the level `namespaces`, receives the host id of the first process in the namespace. */
  information: 4
} as const

/** File descriptors of the supervisor. */
export const supervisorFds = {
  /** Closes when the server no longer needs the sandbox, or exits. The sandbox must then end. */
  control: 3,
  /** The specification, which is passed on to the program's process. */
  spec: 4
} as const

/** Role of the process: become the program, supervise it, or print the Landlock version. */
export const confinementRoles = { become: "become", supervise: "supervise", version: "landlock-version" } as const

/** Exit code if the program could not be confined or started, so none of its code ran. */
export const confinementFailed = 126

/** Harmless devices that programs need. */
export const plainDevices = ["null", "zero", "full", "random", "urandom", "tty"]

/**
 * Parts of /proc that can change the kernel itself. The sandbox protects them. If the server runs as root, programs in the
 * sandbox run as the host's user 0, who may write to some of these files without any capability. For example, the kernel
 * runs the program in `sys/kernel/core_pattern` outside every sandbox.
 */
export const kernelInterfaces = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"]
