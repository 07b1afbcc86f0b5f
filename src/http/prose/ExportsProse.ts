import type { ExportsApi } from "../../../schema/api/ExportsApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const exportsProse: GroupProse<typeof ExportsApi> = {
  about: "A Capsule as files with which the bare tool goes on.",
  routes: {
    create: route(
      "Export a Capsule",
      "201 with a `link` to an archive with which the bare tool goes on: the state in the clear, the module as the Capsule has adopted it, the dependency lock, the inputs that are not secret, and a README with the commands. **The state holds the secrets of the infrastructure.** `confirm` is the name of the Capsule. `inputsToSupply` names the inputs that the archive leaves out.\n\nThe link works in this session only, once within ten minutes, and only while the Capsule stays as it is. The export is in the operation history before it is answered. The service keeps managing the Capsule: release it once the copy is in charge.\n\nRefused (409) are a Capsule of which nothing was applied or that was destroyed, one with a Run under way (`run_conflict`), and one whose commit is neither stored nor to be had from its repository."
    ),
    download: route(
      "Download an export",
      "A `.tar.gz`, streamed. Take the address from `link`; it survives a restart of the server. Every download is in the operation history before its first byte. 404 for a link that is not of this session and Capsule, 409 `failed_precondition` after ten minutes, when the link was used or when the state has moved, 409 `run_conflict` while a Run is under way: export again."
    )
  }
}
