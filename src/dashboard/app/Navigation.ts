/**
 * The pages of a Workspace, in sidebar order. If the server does not have the routes that a page needs, the page is omitted.
 */
export const navigation = [
  { to: "/w/$workspace", word: "home", icon: "home" },
  { to: "/w/$workspace/capsules", word: "capsules", icon: "capsule" },
  { to: "/w/$workspace/runs", word: "runs", icon: "run" },
  { to: "/w/$workspace/pull-requests", word: "pullRequests", icon: "pull" },
  { to: "/w/$workspace/sources", word: "sources", icon: "source" },
  { to: "/w/$workspace/connections", word: "connections", icon: "connection" },
  { to: "/w/$workspace/graph", word: "graph", icon: "graph" },
  { to: "/w/$workspace/activity", word: "activity", icon: "activity" },
  { to: "/w/$workspace/settings", word: "workspace", icon: "people" }
] as const
