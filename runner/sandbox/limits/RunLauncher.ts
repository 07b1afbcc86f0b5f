import type { CommandLine } from "../CommandLine.ts"

// If the machine runs out of memory, the kernel kills a Run before the server.
const script = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done
shift
exec "$@"`

/**
 * A shell that joins groups and then becomes the given program. Moving a running program would be too late, because children that
 * it had started would remain outside the groups.
 */
export const launchedIn = (groups: ReadonlyArray<string>, { args, program }: CommandLine): CommandLine =>
  process.platform === "linux"
    ? { program: "/bin/sh", args: ["-c", script, "svc-run", ...groups, "--", program, ...args] }
    : { program, args }
