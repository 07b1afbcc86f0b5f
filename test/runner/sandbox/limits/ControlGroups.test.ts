import { describe, expect, test } from "bun:test"
import { hitsIn, ownGroupFolder, unifiedPlace } from "../../../../runner/sandbox/limits/ControlGroupFiles.ts"
import { defaultSandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"

const unified = "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
const first = [
  "35 31 0:32 / /sys/fs/cgroup/memory rw shared:1 - cgroup cgroup rw,memory",
  "39 31 0:36 /docker/abc /sys/fs/cgroup/pids rw shared:2 - cgroup cgroup rw,pids",
  ""
].join("\n")

describe("Control groups", () => {
  test("svc finds its control group in a version 2 hierarchy", () => {
    expect(ownGroupFolder("", "0::/system.slice/svc.service\n", unified)).toBe(
      "/sys/fs/cgroup/system.slice/svc.service"
    )
  })

  test("svc finds its control group in a version 1 hierarchy, even below the part visible to a container", () => {
    const groups = "4:memory:/svc\n8:pids:/docker/abc/svc\n0::/\n"
    expect(ownGroupFolder("memory", groups, first)).toBe("/sys/fs/cgroup/memory/svc")
    expect(ownGroupFolder("pids", groups, first)).toBe("/sys/fs/cgroup/pids/svc")
  })

  test("svc finds no control group if the controller or the mount is missing, or if the group is outside the mount", () => {
    expect(ownGroupFolder("memory", "0::/svc\n", unified)).toBeUndefined()
    expect(ownGroupFolder("", "0::/svc\n", first)).toBeUndefined()
    expect(ownGroupFolder("", "0::/../other\n", unified)).toBeUndefined()
  })
})

test("a Run's group limits memory without swap, kills all processes of the Run together, and counts limit hits", () => {
  const { counters, killFile, optional, required } = unifiedPlace("/group", defaultSandboxSettings.limits)
  expect(Object.fromEntries([...required, ...optional])).toEqual({
    "memory.max": String(4 * 1024 ** 3),
    "memory.swap.max": "0",
    "memory.oom.group": "1",
    "pids.max": "4096"
  })
  expect(killFile).toBe("cgroup.kill")
  expect(counters.map(({ file, key }) => [file, key])).toEqual([
    ["memory.events", "oom_kill"],
    ["pids.events", "max"]
  ])
  expect([hitsIn("low 0\noom 2\noom_kill 1\noom_group_kill 1\n", "oom_kill"), hitsIn("max 0\n", "max")]).toEqual([1, 0])
})
