// Lists the files that a page's screen needs in addition to the files that every page needs, so that the browser fetches
// them with the page. Otherwise the browser would request these files only when the code runs.

export interface AppPage {
  readonly name: string
  readonly path: RegExp
  /** Files in this folder that are loaded on demand, in the order in which their contents become visible. */
  readonly parts: ReadonlyArray<string>
}

const frame = "app/WorkspaceFrame.tsx"

export const appPages: ReadonlyArray<AppPage> = [
  { name: "home", path: /^\/(?:w\/[^/]+)?$/, parts: [frame, "screens/home/HomeScreen.tsx"] },
  {
    name: "run",
    path: /^(?:\/w\/[^/]+)?\/runs\/[^/]+$/,
    parts: [frame, "screens/run/RunScreen.tsx", "screens/run/LogView.tsx"]
  },
  { name: "runs", path: /^\/w\/[^/]+\/runs$/, parts: [frame, "screens/runs/RunsScreen.tsx"] },
  { name: "capsule", path: /^(?:\/w\/[^/]+)?\/capsules\/[^/]+/, parts: [frame, "screens/capsule/CapsuleScreen.tsx"] },
  { name: "capsules", path: /^\/w\/[^/]+\/capsules$/, parts: [frame, "screens/capsules/CapsulesScreen.tsx"] },
  { name: "install", path: /^\/(?:new|install)$/, parts: ["screens/install/InstallScreen.tsx"] },
  { name: "account", path: /^\/account$/, parts: ["screens/account/AccountScreen.tsx"] }
]

/** Returns the file name of the page at this path: either the page prepared for the path's screen, or the generic page. */
export const appPageFile = (path: string): string => {
  const page = appPages.find((each) => each.path.test(path))
  return page === undefined ? "/app.html" : `/app.${page.name}.html`
}
