import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect } from "bun:test"
import { ConfigProvider, Effect, Layer } from "effect"
import { Toolchain } from "../../../../runner/toolchain/Toolchain.ts"
import { ToolMissing } from "../../../../runner/toolchain/ToolErrors.ts"
import { defaultSandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import type { SandboxLevel } from "../../../../schema/records/Run.ts"
import { machineFindings } from "../../../../src/cli/agent/AgentMachineFindings.ts"
import { it } from "../../../support/Effect.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { sandboxAt } from "../../agent/support/SandboxAt.ts"

const noTool = Layer.mock(Toolchain)({ resolve: () => Effect.fail(new ToolMissing({ message: "None.", remedy: "" })) })

it.live("the doctor command on an agent reports the limits and network of a Run, as it does on the control plane", () =>
  Effect.gen(function* () {
    const findings = yield* machineFindings(yield* temporaryFolder).pipe(
      Effect.provide(Layer.merge(sandboxAt("landlock"), noTool)),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: {} }))
    )
    expect(findings.find(({ check }) => check === "limits")).toMatchObject({
      status: "ok",
      message: expect.stringContaining(`${defaultSandboxSettings.limits.processes} processes (kept by watching)`),
      remedy: expect.stringContaining("control group")
    })
    expect(findings.find(({ check }) => check === "network")).toMatchObject({
      status: "warning",
      message: "host: As the test says. Forbidden: 10.0.0.0/8."
    })
  })
)

/** Returns the doctor's finding about the agent's own credentials at this isolation level. */
const found = Effect.fnUntraced(function* (
  level: SandboxLevel,
  set: { readonly withoutIsolation?: boolean; readonly label?: string }
) {
  const folder = yield* temporaryFolder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "token"), "own-credential-canary")
  const file = join(folder, "credentials.json")
  writeFileSync(file, JSON.stringify({ cloud: { env: { DEMO_TOKEN: { file: join(folder, "token") } }, ...set } }))
  const findings = yield* machineFindings(folder).pipe(
    Effect.provide(Layer.merge(sandboxAt(level), noTool)),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { SVC_AGENT_CREDENTIALS: file } })
    )
  )
  return findings.find(({ check }) => check === "credentials")
})

it.live("an agent's doctor reports credentials that no Run can use, and credentials that every module can read", () =>
  Effect.gen(function* () {
    expect(yield* found("landlock", {})).toEqual({ check: "credentials", status: "ok", message: "cloud." })
    expect((yield* found("landlock", { label: "blue" }))?.message).toBe("cloud (label blue).")
    const kept = yield* found("process", {})
    expect(kept?.status).toBe("error")
    expect(kept?.message).toContain("modules run without isolation here")
    const exposed = yield* found("process", { withoutIsolation: true })
    expect(exposed?.status).toBe("warning")
    expect(exposed?.message).toContain("each of them can read these")
  })
)
