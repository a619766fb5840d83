// The library door `heimdall-agents/canonical`.
export { IncrementalCanonical, canonicalBytes, canonicalHash, canonicalJson } from './canonical.ts'
