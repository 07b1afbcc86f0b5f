// A minimal server that is the baseline for the product's reads: Bun.serve, one prepared query and JSON. Prints its port.
import { Database } from "bun:sqlite"

const database = new Database(process.argv[2] ?? "", { readonly: true })

type Row = Record<string, unknown>

// The names of tables and columns are trusted, because only the benchmark starts this server.
const rowsBy = (table: string, column: string | null) =>
  database.query<Row, [string, number]>(`SELECT * FROM ${table} WHERE ${column ?? "''"} = ?1 LIMIT ?2`)
const queries = new Map<string, ReturnType<typeof rowsBy>>()

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  routes: {
    "/rows/:table": (request) => {
      const { searchParams } = new URL(request.url)
      const { table } = request.params
      const column = searchParams.get("column")
      const query = queries.get(`${table} ${column}`) ?? rowsBy(table, column)
      queries.set(`${table} ${column}`, query)
      return Response.json({ rows: query.all(searchParams.get("value") ?? "", Number(searchParams.get("limit"))) })
    }
  },
  fetch: () => new Response(null, { status: 404 })
})

process.stdout.write(`${server.port}\n`)
