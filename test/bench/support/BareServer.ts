// The comparison for the product's one-row read: Bun.serve, one prepared query, JSON. Prints its port.
import { Database } from "bun:sqlite"

const database = new Database(process.argv[2] ?? "", { readonly: true })
const query = database.query<Record<string, unknown>, [string]>(
  "SELECT id, workspace_id, name, slug, created_at, updated_at FROM projects WHERE id = ?"
)

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  routes: {
    "/api/v1/projects/:id": (request) => {
      const row = query.get(request.params.id)
      return row === null ? new Response(null, { status: 404 }) : Response.json({ project: row })
    }
  },
  fetch: () => new Response(null, { status: 404 })
})

process.stdout.write(`${server.port}\n`)
