import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import { Clock, Effect, Option } from "effect"
import { storedAgent } from "../../../runner/agent/AgentFolder.ts"
import { keyLifetime } from "../../agent/KeyChange.ts"
import type { AnyFinding } from "../doctor/DoctorReport.ts"
import { keyAge } from "./KeyAge.ts"

const others = 0o077

const exposed = (path: string) => existsSync(path) && (statSync(path).mode & others) !== 0

const ofKeys = (who: string, { isOverdue, message, remedy }: ReturnType<typeof keyAge>): AnyFinding => ({
  check: "key",
  status: isOverdue ? "warning" : "ok",
  message: `${who} ${message}`,
  ...(remedy === undefined ? {} : { remedy })
})

/** Checks an agent's folder and key, but creates neither. */
export const folderFindings = Effect.fnUntraced(function* (folder: string) {
  if (!existsSync(join(folder, "agent.json"))) {
    const finding: AnyFinding = {
      check: "key",
      status: "warning",
      message: `${folder} contains no enrolled agent yet.`,
      remedy: "The first start of svc agent enrols it, with an enrolment token."
    }
    return [finding]
  }
  const open = [folder, join(folder, "keys.json"), join(folder, "agent.json")].filter(exposed)
  const found = yield* Effect.result(Effect.all(storedAgent(folder)))
  if (found._tag === "Failure") {
    const finding: AnyFinding = { check: "key", status: "error", message: found.failure.message }
    return [finding]
  }
  const { identity, keys } = found.success
  const finding: AnyFinding =
    open.length > 0
      ? {
          check: "key",
          status: "error",
          message: `Others may read ${open.join(", ")}.`,
          remedy: "Make the folder 0700 and its files 0600, and enrol again if somebody may have read the key."
        }
      : Option.isNone(identity) || Option.isNone(keys)
        ? { check: "key", status: "error", message: "The key of this agent is missing.", remedy: "Enrol again." }
        : ofKeys(
            `${identity.value.agentId} of the pool ${identity.value.pool} at ${identity.value.server}.`,
            keyAge(keys.value.madeAt, yield* keyLifetime, yield* Clock.currentTimeMillis)
          )
  return [finding]
})
