import manifest from '../../package.json' with { type: 'json' };

/** Version of the running program: fixed at build time, so a package replaced on disk does not change it. */
export const VERSION: string = manifest.version;
