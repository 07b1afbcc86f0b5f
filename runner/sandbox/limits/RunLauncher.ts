import type { CommandLine } from "../CommandLine.ts"

// A machine that runs out of memory altogether ends a Run before it ends the service.
const script = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done
shift
exec "$@"`

/**
 * The command line of a shell that joins groups and then becomes the given program. To move a process that is running would be too late:
 * what it had started by then would stay outside.
 */
export const launchedIn = (groups: ReadonlyArray<string>, { args, program }: CommandLine): CommandLine =>
  process.platform === "linux"
    ? { program: "/bin/sh", args: ["-c", script, "svc-run", ...groups, "--", program, ...args] }
    : { program, args }
