/**
 * The instructions for the process that becomes a sandboxed program, as JSON over a pipe: the environment holds secrets, and
 * arguments are world-readable. Both ends come from the same build, so the reader checks only that the JSON is complete.
 */
export interface ConfinementSpec {
  /** The program's path and its arguments. */
  readonly argv: ReadonlyArray<string>
  /** The path in the program's view. */
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** Resource limits by the kernel's numbers (`RLIMIT_*`). */
  readonly limits: ReadonlyArray<readonly [resource: number, value: number]>
  readonly confinement: Confinement
}

export type Confinement =
  | { readonly kind: "none" }
  | {
      readonly kind: "landlock"
      /** The user and group to become; undefined to keep the current ones. */
      readonly userId: number | undefined
      /** Supplementary groups, set only together with a user. */
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
      /** True if the process must bring up the loopback interface of the program's own network. */
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
      /** True if the entry is skipped when it does not exist on the host. */
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
  /** At the namespaces level: receives the host's id of the first process inside. */
  information: 4
} as const

/** File descriptors of the supervisor. */
export const supervisorFds = {
  /** Closed by the service or by its exit: the sandbox must be shut down. */
  control: 3,
  /** Passed on to the program's process without being read. */
  spec: 4
} as const

/** The purpose of the process: to become the program, to supervise it, or to print the Landlock version. */
export const confinementRoles = { become: "become", supervise: "supervise", version: "landlock-version" } as const

/** The program could not be confined or started; none of it ran. */
export const confinementFailed = 126

/** The harmless devices that programs need. */
export const plainDevices = ["null", "zero", "full", "random", "urandom", "tty"]

/**
 * Parts of /proc that change the kernel itself. The host's user 0 may write to some of them without any capability, and the
 * sandbox of a service running as root has that user: the kernel runs a program set in `sys/kernel/core_pattern` outside every
 * sandbox.
 */
export const kernelInterfaces = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"]
