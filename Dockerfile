# A server with everything in it: docker build -t recollect .   (docs/docker.md)
# --target first-start leaves the model out: the first start fetches it into the volume then.
# Every stage is of this image; raise its tag here alone.
ARG PYTHON=python:3.13.9-slim-bookworm

FROM ${PYTHON} AS packages
WORKDIR /sources
RUN python -m venv /opt/recollect
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY layers/memory/recollect layers/memory/recollect
RUN /opt/recollect/bin/python -m pip install --no-cache-dir --constraint constraints.txt ".[local,aws]"

FROM packages AS model
RUN /opt/recollect/bin/python -m recollect.adapters.embedders.building.build --target /opt/model

FROM ${PYTHON} AS first-start
# A number, so that Kubernetes can tell that it is not root.
RUN groupadd --gid 10001 recollect \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin recollect \
    && install --directory --owner 10001 --group 10001 --mode 0700 /data
COPY --from=packages /opt/recollect /opt/recollect
ENV PATH=/opt/recollect/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    XDG_CACHE_HOME=/data/cache \
    RECOLLECT_HOME=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8700
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s --start-interval=2s --retries=3 \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8700/v1/ready', timeout=4)"]
ENTRYPOINT ["recollect"]
# Nobody outside of the container would reach loopback. Without RECOLLECT_API_KEYS this address is refused at the start.
CMD ["serve", "--host", "0.0.0.0", "--port", "8700"]

FROM first-start AS complete
COPY --from=model /opt/model /opt/model
ENV RECOLLECT_MODEL_FOLDER=/opt/model
