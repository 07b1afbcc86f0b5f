import type { CommandLine } from "../CommandLine.ts"

// When the machine runs out of memory, a Run is killed before the service.
const script = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done
shift
exec "$@"`

/**
 * The command line of a shell that joins groups and then becomes the given program. Moving a running process would be too late,
 * because children that it had started would remain outside the groups.
 */
export const launchedIn = (groups: ReadonlyArray<string>, { args, program }: CommandLine): CommandLine =>
  process.platform === "linux"
    ? { program: "/bin/sh", args: ["-c", script, "svc-run", ...groups, "--", program, ...args] }
    : { program, args }
