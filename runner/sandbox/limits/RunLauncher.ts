import type { CommandLine } from "../CommandLine.ts"

// Shell script that joins the groups. It also makes the kernel kill the Run before the server if the machine runs out of
// memory.
const script = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done
shift
exec "$@"`

/**
 * Starts a shell that joins groups and then becomes the given program. Moving the program after it has started would be too
 * late, because its children would remain outside the groups.
 */
export const launchedIn = (groups: ReadonlyArray<string>, { args, program }: CommandLine): CommandLine =>
  process.platform === "linux"
    ? { program: "/bin/sh", args: ["-c", script, "svc-run", ...groups, "--", program, ...args] }
    : { program, args }
