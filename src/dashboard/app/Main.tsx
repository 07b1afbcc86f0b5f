import "./Kit.ts"
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { takeAddressSecret } from "../api/AddressSecret.ts"
import { Fault } from "../api/Fault.ts"
import { bootstrapQuery, retryQuery } from "../api/Queries.ts"
import { applyPreferences } from "../preferences/Preferences.ts"
import { MenuPopups } from "../ui/MenuPopups.ts"
import { lazyMenuPopups } from "./LazyMenuPopups.ts"
import { makeRouter } from "./Router.tsx"

applyPreferences()
takeAddressSecret()

/**
 * If a read is refused, the person may have been removed from the Workspace, so the list of the person's Workspaces is read
 * again.
 */
const queryCache = new QueryCache({
  onError: (error, { queryKey }) => {
    if (error instanceof Fault && error.status === 403 && queryKey[0] !== bootstrapQuery.queryKey[0]) {
      void queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey })
    }
  }
})

const queryClient: QueryClient = new QueryClient({
  queryCache,
  defaultOptions: {
    queries: { retry: retryQuery, retryDelay: (count) => Math.min(15_000, 500 * 2 ** count), staleTime: 2000 },
    mutations: { retry: false }
  }
})

const router = makeRouter(queryClient)

declare module "@tanstack/react-router" {
  interface Register {
    readonly router: ReturnType<typeof makeRouter>
  }
}

const root = document.querySelector("#root")
if (root !== null) {
  // Keeps the page's first frame until its replacement is ready. If this fails, the failure is shown on a separate page.
  await router.load()
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <MenuPopups value={lazyMenuPopups}>
          <RouterProvider router={router} />
        </MenuPopups>
      </QueryClientProvider>
    </StrictMode>
  )
}
