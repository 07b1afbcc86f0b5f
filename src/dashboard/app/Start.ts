// Runs before the first paint and before the page's own code has arrived. It sets the theme and language, so that the page does
// not flash, and sends the requests that the page needs first.
import { askEarly, askEarlyForHead } from "../api/EarlyRequests.ts"
import { capsulesRead, dashboardBootstrap, dashboardNeeds, dashboardOverview, runsRead } from "../api/Endpoints.ts"
import { address } from "../api/Url.ts"
import type { Bootstrap } from "../api/Types.ts"
import { applyPreferences } from "../preferences/Preferences.ts"
import { defaultWorkspace } from "./DefaultWorkspace.ts"

applyPreferences()

const [, handle, place, id] = /^(?:\/w\/([^/]+))?(?:\/(runs|capsules)\/([^/]+))?/.exec(window.location.pathname) ?? []

const askCapsule = (capsuleId: string): void => askEarly(address(capsulesRead, { params: { capsuleId } }))

const onHome = /^\/(?:w\/[^/]+\/?)?$/.test(window.location.pathname)

askEarly(address(dashboardBootstrap, {}), (body: Bootstrap) => {
  if (!onHome) return
  const workspace =
    handle === undefined
      ? defaultWorkspace(body.workspaces, body.selectedWorkspaceId)
      : body.workspaces.find((each) => each.handle === handle)
  if (workspace === undefined) return
  const query = { workspaceId: workspace.id }
  askEarly(address(dashboardNeeds, { query }))
  askEarly(address(dashboardOverview, { query }))
})

if (place === "capsules" && id !== undefined) askCapsule(id)
if (place === "runs" && id !== undefined) {
  // In a Run's record, the id of the Capsule comes before all long fields, so the start of the response contains it. If
  // something else matches, the only consequence is one unused request.
  askEarlyForHead(address(runsRead, { params: { runId: id } }), (head) => {
    const [, capsuleId] = /"capsuleId":"(cap_[a-z0-9]+)"/.exec(head) ?? []
    if (capsuleId !== undefined) askCapsule(capsuleId)
  })
}
