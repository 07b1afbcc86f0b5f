import type { RpcGroup } from "effect/rpc"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import type { AgentProtocol } from "../../schema/agent/AgentProtocol.ts"

/**
 * When a message is sent.
 *
 * - `begin`: an agent enrols and begins its session
 * - `plan`, `apply`, `drift`: of a Capsule with a source build
 * - `handIn`: its Capsule was released while the agent worked
 * - `decline`: an offer that its server did not sign
 */
export type Occasion = "begin" | "plan" | "apply" | "drift" | "handIn" | "decline"

type Message = RpcGroup.Rpcs<typeof AgentProtocol>["_tag"]
type Fetched = "snapshot" | "build" | "state" | "plan_file"
export type Said = Message | `GET ${Fetched}` | `PUT ${Exclude<BlobKind, "snapshot">}`

/** Every message and transfer, with the occasion at which a fault meets it. A message missing here does not compile. */
export const occasions: Readonly<Record<Said, Occasion>> = {
  Enrol: "begin",
  Challenge: "begin",
  Hello: "begin",
  Next: "plan",
  Accept: "apply",
  Decline: "decline",
  Start: "apply",
  Renew: "apply",
  Report: "apply",
  Checkpoint: "apply",
  Result: "apply",
  HandIn: "handIn",
  "GET snapshot": "plan",
  "GET build": "apply",
  "GET state": "drift",
  "GET plan_file": "apply",
  "PUT build": "plan",
  "PUT plan_file": "plan",
  "PUT state": "apply",
  "PUT outcome": "apply",
  "PUT left_over": "handIn"
}

/** What goes within messages where both sides take it so. */
const carried: ReadonlySet<Said> = new Set([
  "GET state",
  "GET plan_file",
  "PUT plan_file",
  "PUT state",
  "PUT outcome"
] satisfies ReadonlyArray<Said>)

/** Whether it is said only where one side is of the release before. */
export const isOfBefore = (message: Said): boolean => carried.has(message)

const isSaid = (name: string): name is Said => Object.hasOwn(occasions, name)

export const everySaid: ReadonlyArray<Said> = Object.keys(occasions).filter(isSaid)
