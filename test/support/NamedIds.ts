import { CapsuleId, RunId, WorkspaceId } from "../../schema/records/Ids.ts"

// Left-padded: names of any length become ids of equal length, in numerical order.
const text = (name: string) => name.replaceAll(/[^a-z0-9]/g, "").padStart(20, "0")

/** A well-formed id that contains a name. */
export const namedRun = (name: string | number) => RunId.make(`run_${text(String(name))}`)
export const namedCapsule = (name: string | number) => CapsuleId.make(`cap_${text(String(name))}`)
export const namedWorkspace = (name: string | number) => WorkspaceId.make(`ws_${text(String(name))}`)
