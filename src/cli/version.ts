// The version of the package, put in by the build.
declare const __HEIMDALL_VERSION__: string

export const VERSION = __HEIMDALL_VERSION__
