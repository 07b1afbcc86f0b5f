import { Effect } from "effect"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import { InstallConfigStore } from "./InstallConfigStore.ts"

/** Returns the bindings of a configuration, ready to be copied to its successor. */
export const bindingsOf = Effect.fnUntraced(function* (installConfigId: InstallConfigId) {
  const configs = yield* InstallConfigStore
  return (yield* configs.bindings(installConfigId)).map((row) => ({
    provider: row.provider,
    moduleLocalName: row.module_local_name,
    ...(row.child_alias === null ? {} : { childAlias: row.child_alias }),
    connectionId: row.connection_id
  }))
})
