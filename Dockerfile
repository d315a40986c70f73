# syntax=docker/dockerfile:1

# The program is built once, with the registry and the build products kept between builds.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    scripts/package --output /out/packages \
    && dpkg-deb --extract /out/packages/*.deb /out/files \
    && mkdir -p /out/data

# The Debian package and the archive alone: docker build --target packages --output packages .
FROM scratch AS packages
COPY --from=build /out/packages /

# The C library, certificates of public authorities, and nothing else: no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /out/files/usr/bin/platen /usr/bin/platen
# Data of the default set-up, SQLite and a folder; a volume that is new takes owner and mode from here.
COPY --from=build --chown=nonroot:nonroot /out/data /var/lib/platen
USER nonroot
WORKDIR /var/lib/platen

# In a container every address is inside; what is published decides who reaches it.
ENV PLATEN_HTTP__BIND=0.0.0.0:8080 \
    PLATEN_OPS__BIND=0.0.0.0:9090 \
    PLATEN_DATABASE__URL=sqlite:///var/lib/platen/platen.db \
    PLATEN_BLOBS__PATH=/var/lib/platen/blobs
VOLUME /var/lib/platen
EXPOSE 8080 9090
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=10s --timeout=10s --start-period=30s --retries=3 CMD ["platen", "healthcheck"]
ENTRYPOINT ["platen"]
CMD ["serve"]
