declare module "@cdktn/hcl2json/main.wasm.gz" {
  /** A path or URL, relative to the module that holds the import. */
  const location: string
  export default location
}
