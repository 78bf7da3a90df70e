using System.Net;
using System.Net.Http.Headers;
using System.Text;

namespace Locations;

/// <summary>Asks Elasticsearch without holding a thread; a document that is not there is null.</summary>
public sealed class Elasticsearch
{
    private readonly HttpClient client;

    public Elasticsearch(Uri url)
    {
        client = new HttpClient(new SocketsHttpHandler
        {
            ConnectTimeout = TimeSpan.FromSeconds(5),
            MaxConnectionsPerServer = 500,
            UseProxy = false,
        })
        {
            BaseAddress = new UriBuilder(url.Scheme, url.Host, url.Port, url.AbsolutePath.TrimEnd('/') + "/").Uri,
            Timeout = TimeSpan.FromSeconds(10),
        };
        if (url.UserInfo != "")
        {
            var user = Convert.ToBase64String(Encoding.UTF8.GetBytes(Uri.UnescapeDataString(url.UserInfo)));
            client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", user);
        }
    }

    /// <summary>Makes one round trip.</summary>
    /// <exception cref="ConfigException">It was not answered in time, or not as it should be.</exception>
    public async Task Reach(TimeSpan within)
    {
        using var limit = new CancellationTokenSource(within);
        try
        {
            using var response = await client.GetAsync("", limit.Token);
            response.EnsureSuccessStatusCode();
        }
        catch (Exception e) when (e is HttpRequestException or OperationCanceledException)
        {
            throw new ConfigException($"cannot reach Elasticsearch at {client.BaseAddress?.Authority}: {e.Message}");
        }
    }

    public Task<City?> City(long id, CancellationToken cancelled) => Source<City>("city", id, cancelled);

    public Task<Region?> Region(long id, CancellationToken cancelled) => Source<Region>("region", id, cancelled);

    /// <summary>A document without what the service never needs; geometry is most of it.</summary>
    private async Task<T?> Source<T>(string index, long id, CancellationToken cancelled) where T : Place
    {
        using var response = await client.GetAsync($"{index}/_source/{id}?_source_excludes=geometry,population", cancelled);
        if (response.StatusCode == HttpStatusCode.NotFound)
        {
            return null;
        }
        response.EnsureSuccessStatusCode();
        return await response.Content.ReadFromJsonAsync<T>(cancelled);
    }
}
