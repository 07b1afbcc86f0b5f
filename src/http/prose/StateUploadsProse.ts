import type { StateUploadsApi } from "../../../schema/api/StateUploadsApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const stateUploadsProse: GroupProse<typeof StateUploadsApi> = {
  about: "Existing state that an install takes over.",
  routes: {
    create: route(
      "Upload the state of infrastructure that exists already",
      "Needs `Idempotency-Key`. The body is the state file itself (version 4, as `terraform state pull` or `tofu state pull` writes it), with `Content-Type: application/octet-stream` and at most 32 MiB; a larger one is answered 413 before it is read. The state is sealed at once, and nothing of it is logged or answered.\n\nThe upload is used by one install: name its `id` and `sha256` in `adopt` of an install plan. An install that fails before its Capsule exists gives it back. What nobody uses within an hour is erased, and a Workspace has at most 10 such uploads (409).\n\nRefused are what is not a whole state of version 4 (400 `state_unreadable`), a state that the tool encrypted (400 `state_encrypted`), one that a newer tool wrote (409 `state_newer`), a lineage that a Capsule of this installation has already (409 `state_lineage_known`), and resources that another Capsule of the Workspace manages (409 `state_resource_managed`)."
    )
  }
}
