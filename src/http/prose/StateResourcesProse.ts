import type { StateResourcesApi } from "../../../schema/api/StateResourcesApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const stateResourcesProse: GroupProse<typeof StateResourcesApi> = {
  about: "The resources of a Capsule, without values.",
  routes: {
    list: route(
      "List the resources of the current state, by address",
      "Instances of managed resources, without values. `deposed` is the key of an object that waits to be destroyed after its replacement, and `tainted` marks one that the tool will replace as damaged. `address` lists those whose address contains the text; letter cases count. `search` lists those whose address, type or `id` contains the text, in any letter case. An instance key that is a secret is hidden in the address, as in the plan, and no search finds it. `id` is absent where the state marks it as sensitive, where it contains a secret, and where it may be one. `changedByRunId` and `changedAt` name the Run that made the resource as it is, and `commit` its commit; the record of the Run may be gone after its retention period. `indexed: false` says that nothing can be listed: a state from an earlier release is not read or checked yet (which happens in the background after an upgrade), or the tool encrypted it. `stateVersionId` is absent for a Capsule without a state."
    ),
    history: route(
      "List the changes of one resource, newest first",
      "Each change of the resource at `address` with the Run that made it: its commit, who requested and approved its plan, and the names of the attributes that changed, without values. `deposed` selects an object that waits to be destroyed after its replacement; `tainted` says that the tool will replace the object as damaged. `drift` is on the first page only: what the newest drift check of the current state found at this resource. The history of an address starts with the oldest state that is kept, and is empty for an address that no state contains. It goes through moves: `moved` has the `previousAddress`, and the former address has the same history until another resource takes it. `limit` counts periods in which the resource stayed as it was; one that ended with its removal is two events."
    ),
    difference: route(
      "Compare a StateVersion with another one",
      "What is different in this StateVersion than in `from`, another one of the same Capsule, older or newer; without `from` the previous one that is kept. Names alone: no value, whether secret or not. A resource that is the same object at another address is `moved`, with its `previousAddress`, and `changedAttributes` if it changed as well. `resources` are paged by address; `outputs` are all on every page. `indexed: false` says that one of the two cannot be compared: it is from an earlier release and not read yet, or the tool encrypted it."
    )
  }
}
